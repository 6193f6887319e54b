#include "trimtab/tasks/core/this_task.hpp"

#include <atomic>

#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/coroutines/coroutine_context.hpp"

namespace trimtab::tasks {

namespace {

std::uint32_t next_number() noexcept {
  static constinit std::atomic<std::uint32_t> last{0};
  for (;;)
    if (const std::uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1; number != 0) return number;
}

}  // namespace

struct task_ids {
  static task_id id_from(std::uint32_t& number) noexcept {
    if (number == 0) [[unlikely]]
      number = next_number();
    return task_id(number);
  }
};

namespace this_task {

task_id get_id() noexcept {
  if (worker* const this_worker = worker::current(); this_worker != nullptr)
    return task_ids::id_from(this_worker->running().number);
  thread_local std::uint32_t of_thread = 0;
  return task_ids::id_from(of_thread);
}

const char* name() noexcept {
  worker* const this_worker = worker::current();
  const task_kind* const kind = this_worker != nullptr ? this_worker->running().kind_of_work : nullptr;
  return kind != nullptr && kind->name != nullptr ? kind->name : "";
}

std::stop_token stop_token() noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return {};
  const detail::coroutine_context* const context = detail::coroutine_context::running(*this_worker);
  const std::stop_token* const token =
      context != nullptr && context->stop() != nullptr ? context->stop() : this_worker->running().stop_token;
  return token != nullptr ? *token : std::stop_token();
}

}  // namespace this_task
}  // namespace trimtab::tasks
