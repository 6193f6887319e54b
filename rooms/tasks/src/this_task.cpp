#include "trimtab/tasks/core/this_task.hpp"

#include <atomic>

#include "trimtab/tasks/coroutines/coroutine_context.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

namespace {

std::uint32_t next_number() noexcept {
  static constinit std::atomic<std::uint32_t> last{0};
  for (;;)
    if (const std::uint32_t found = last.fetch_add(1, std::memory_order_relaxed) + 1; found != 0) return found;
}

}  // namespace

struct task_ids {
  static task_id of(std::uint32_t& number) noexcept {
    if (number == 0) [[unlikely]]
      number = next_number();
    return task_id(number);
  }
};

namespace this_task {

task_id get_id() noexcept {
  if (worker* const here = worker::current(); here != nullptr) return task_ids::of(here->running().number);
  thread_local std::uint32_t of_thread = 0;
  return task_ids::of(of_thread);
}

const char* name() noexcept {
  worker* const here = worker::current();
  const task_kind* const kind = here != nullptr ? here->running().kind_of_work : nullptr;
  return kind != nullptr && kind->name != nullptr ? kind->name : "";
}

std::stop_token stop_token() noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return {};
  const detail::coroutine_context* const context = detail::coroutine_context::running(*here);
  const std::stop_token* const own =
      context != nullptr && context->stop() != nullptr ? context->stop() : here->running().stop_token;
  return own != nullptr ? *own : std::stop_token();
}

}  // namespace this_task
}  // namespace trimtab::tasks
