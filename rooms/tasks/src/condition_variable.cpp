#include "trimtab/tasks/sync/condition_variable.hpp"

namespace trimtab::tasks {

void condition_variable::notify_one() noexcept {
  m_lock.lock();
  waiter* const oldest = m_waiting.pop();
  m_lock.unlock();
  if (oldest != nullptr) oldest->notify(*oldest);
}

void condition_variable::notify_all() noexcept {
  m_lock.lock();
  waiter* const woken = m_waiting.pop_all();
  m_lock.unlock();
  waiter::notify_all(woken);
}

}  // namespace trimtab::tasks
