#include "trimtab/tasks/shared_mutex.hpp"

#include <mutex>

namespace trimtab::tasks {

bool shared_mutex::try_take(bool writer) noexcept {
  const std::lock_guard guard(m_lock);
  if (!m_waiting.is_empty() || !is_free_for(writer)) return false;
  grant(writer);
  return true;
}

void shared_mutex::take(bool writer) {
  parked<seeker> here;
  here.is_writer = writer;
  {
    const std::lock_guard guard(m_lock);
    if (m_waiting.is_empty() && is_free_for(writer)) return grant(writer);
    m_waiting.push(here);
  }
  here.told.wait("a shared mutex", this);
}

// Those in front that may have it now, linked.
waiter* shared_mutex::grant_next() noexcept {
  waiter* granted = nullptr;
  waiter** end = &granted;
  while (!m_waiting.is_empty()) {
    const bool writer = static_cast<const seeker*>(m_waiting.first())->is_writer;
    if (!is_free_for(writer)) break;
    grant(writer);
    *end = m_waiting.pop();
    end = &(*end)->next;
    *end = nullptr;
  }
  return granted;
}

void shared_mutex::unlock() noexcept {
  m_lock.lock();
  m_has_writer = false;
  waiter* const granted = grant_next();
  m_lock.unlock();
  waiter::tell_all(granted);
}

void shared_mutex::unlock_shared() noexcept {
  m_lock.lock();
  m_readers -= 1;
  waiter* const granted = m_readers == 0 ? grant_next() : nullptr;
  m_lock.unlock();
  waiter::tell_all(granted);
}

}  // namespace trimtab::tasks
