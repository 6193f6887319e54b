#include "trimtab/tasks/core/task_scope.hpp"

namespace trimtab::tasks {

void task_scope::await() noexcept {
  // What still lies in the worker's own queue is run here, the newest first.
  std::int64_t in_place = 0;
  const auto is_member_of_scope = [this](const task& item) {
    return item.is_member && &static_cast<const member&>(item).scope == this;
  };
  for (worker* this_worker = worker::current(); this_worker != nullptr && !this_worker->is_stack_low();
       this_worker = worker::current()) {
    task* const member_task = this_worker->take_newest_if(is_member_of_scope);
    if (member_task == nullptr) break;
    this_worker->run_in_place(*member_task);
    in_place += 1;
  }
  const std::int64_t expected = m_spawned - in_place;
  m_spawned = 0;
  completion all_ended;
  m_waiting = &all_ended;
  const std::int64_t left = m_left.fetch_add(expected - not_waiting, std::memory_order_acq_rel) + expected - not_waiting;
  if (left != 0) all_ended.wait(wait_reason::task_scope);
  m_waiting = nullptr;
  m_left.store(not_waiting, std::memory_order_relaxed);
}

void task_scope::failed(std::exception_ptr error) noexcept {
  if (!m_has_failed.exchange(true, std::memory_order_acq_rel)) m_error = std::move(error);
}

}  // namespace trimtab::tasks
