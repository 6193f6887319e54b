#include "trimtab/tasks/coroutines/coroutine.hpp"

#include "trimtab/tasks/coroutines/coroutine_fork.hpp"

namespace trimtab::tasks::detail {

namespace {

// Ends at once, and tells so.
struct telling {
  struct promise_type {
    telling get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
  };
  std::coroutine_handle<promise_type> coroutine;
};

telling complete_on_resume(completion& event) {
  event.complete();
  co_return;
}

}  // namespace

void wait_for_fork(coroutine_promise& child) noexcept {
  if (worker* const this_worker = worker::current(); this_worker != nullptr && this_worker->claim(child)) return;
  completion all_ended;
  const auto waiting = complete_on_resume(all_ended).coroutine;
  std::uintptr_t newest = child.is_begun;
  if (child.next_one.compare_exchange_strong(newest, reinterpret_cast<std::uintptr_t>(waiting.address()),
                                             std::memory_order_acq_rel, std::memory_order_acquire))
    all_ended.wait(wait_reason::fork);
  else
    waiting.destroy();
}

}  // namespace trimtab::tasks::detail
