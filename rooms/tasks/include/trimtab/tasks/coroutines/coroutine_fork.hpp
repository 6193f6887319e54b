// Coroutines that run at the same time.
//
//   co_task<long> fib(int n) {
//     if (n < 2) co_return n;
//     auto a = fork(fib(n - 1));            // may begin anywhere
//     const long b = co_await fib(n - 2);   // a call
//     co_return co_await a + b;
//   }
//   long answer = spawn(fib(30)).get();     // from anywhere
#pragma once

#include "trimtab/tasks/coroutines/coroutine.hpp"
#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::tasks {

namespace detail {

// Waits, as a call, for a fork that nobody has awaited: an exception has left its parent.
void wait_for_fork(coroutine_promise& child) noexcept;

}  // namespace detail

// A coroutine that was forked. It has ended before this object has: who does not await it waits in the destructor.
template <class value>
class [[nodiscard]] forked_task {
 public:
  using handle = typename co_task<value>::handle;
  explicit forked_task(handle child) noexcept : m_child(child) {}
  forked_task(forked_task&& source) noexcept : m_child(std::exchange(source.m_child, nullptr)) {}
  forked_task& operator=(forked_task&&) = delete;
  [[gnu::always_inline]] ~forked_task() {
    if (!m_child) return;
    if (m_child.promise().next_one.load(std::memory_order_acquire) == detail::coroutine_promise::is_begun) [[unlikely]]
      detail::wait_for_fork(m_child.promise());
    m_child.destroy();
  }

  struct awaiter {
    handle forked;

    [[gnu::always_inline]] bool await_ready() const noexcept {
      auto& child = forked.promise();
      worker* const this_worker = worker::current();
      if (this_worker != nullptr && this_worker->claim(child)) [[likely]]
        return child.call(this_worker, child);
      const std::uintptr_t newest = child.next_one.load(std::memory_order_acquire);
      if (newest == child.is_begun && this_worker != nullptr) {
        child.flags |= child.awaited_in_vain;
        this_worker->counters().suspended.add();
      }
      return newest == child.has_ended;
    }
    // Afterwards the parent may go on elsewhere, and this be gone.
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
      return detail::coroutine_promise::await(forked.promise(), parent);
    }
    value await_resume() {
      auto& child = forked.promise();
      if (child.flags != 0) [[unlikely]]
        child.parent_is_back();
      return forked.promise().move_result();
    }
  };
  // Once.
  awaiter operator co_await() noexcept { return {m_child}; }

 private:
  handle m_child;
};

// The coroutine may begin at another worker from now on; called on no worker, when it is awaited.
template <class value>
[[gnu::always_inline]] inline forked_task<value> fork(co_task<value>&& forked_coroutine) {
  const auto child = forked_coroutine.release();
  if (worker* const this_worker = worker::current(); this_worker != nullptr) [[likely]] {
    child.promise().next_one.store(child.promise().is_begun, std::memory_order_relaxed);
    if (recording::is_enabled() || this_worker->running().kind_of_work != nullptr) [[unlikely]]
      detail::give_context(child.promise(), *this_worker, detail::code_at(child.address()));
    this_worker->fork(child.promise());
  }
  return forked_task<value>(child);
}

// A task of its own, that ends some time; its value comes by the future. `stop` is what this_task::stop_token() gives in it,
// in what it calls and in what it forks. If stop was requested before it began, it does not begin, and the future throws
// `stopped`.
template <class value>
future<value> spawn(const task_options& options, std::stop_token stop, co_task<value>&& child) {
  auto& target = detail::make_state<detail::spawned_state<value>>(*detail::home_of_caller());
  auto result = detail::access::future_of<value>(target);
  const auto coroutine = child.release();
  auto& promise = coroutine.promise();
  promise.level = options.name == nullptr ? options.level : level_of_kind(options.name->kind().name, options.level);
  promise.set_target(target);
  try {
    detail::give_context(promise, options, std::move(stop), detail::code_at(coroutine.address()));
    detail::spawn(promise, options);
  } catch (...) {
    coroutine.destroy();
    target.release();
    throw;
  }
  return result;
}

template <class value>
future<value> spawn(const task_options& options, co_task<value>&& child) {
  return spawn(options, {}, std::move(child));
}
template <class value>
future<value> spawn(std::stop_token stop, co_task<value>&& child) {
  return spawn(task_options{}, std::move(stop), std::move(child));
}
template <class value>
future<value> spawn(co_task<value>&& child) {
  return spawn(task_options{}, {}, std::move(child));
}

}  // namespace trimtab::tasks
