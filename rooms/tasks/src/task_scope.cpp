#include "trimtab/tasks/core/task_scope.hpp"

namespace trimtab::tasks {

void task_scope::await() noexcept {
  // What still lies in the worker's own queue is run here, the newest first.
  std::int64_t in_place = 0;
  const auto is_own = [this](const task& each) { return each.is_member && &static_cast<const member&>(each).of == this; };
  for (worker* here = worker::current(); here != nullptr && !here->is_stack_low(); here = worker::current()) {
    task* const own = here->take_newest_if(is_own);
    if (own == nullptr) break;
    here->run_in_place(*own);
    in_place += 1;
  }
  const std::int64_t expected = m_spawned - in_place;
  m_spawned = 0;
  completion done;
  m_waiting = &done;
  const std::int64_t left = m_left.fetch_add(expected - not_waiting, std::memory_order_acq_rel) + expected - not_waiting;
  if (left != 0) done.wait(wait_reason::task_scope);
  m_waiting = nullptr;
  m_left.store(not_waiting, std::memory_order_relaxed);
}

void task_scope::failed(std::exception_ptr error) noexcept {
  if (!m_has_failed.exchange(true, std::memory_order_acq_rel)) m_error = std::move(error);
}

}  // namespace trimtab::tasks
