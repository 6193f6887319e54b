#include "trimtab/tasks/sync/shared_mutex.hpp"

#include <mutex>

#include "trimtab/tasks/core/misuse.hpp"

namespace trimtab::tasks {

bool shared_mutex::try_acquire_one(bool writer) noexcept {
  const std::lock_guard guard(m_lock);
  if (!m_waiting.is_empty() || !is_free_for(writer)) return false;
  grant(writer);
  return true;
}

bool shared_mutex::acquire_or_enlist(seeker& waiting) noexcept {
  const std::lock_guard guard(m_lock);
  if (m_waiting.is_empty() && is_free_for(waiting.is_writer)) {
    grant(waiting.is_writer);
    return true;
  }
  m_waiting.push(waiting);
  return false;
}

void shared_mutex::acquire_one(bool writer) {
  parked<seeker> sleeper;
  sleeper.is_writer = writer;
  if (!acquire_or_enlist(sleeper)) sleeper.notified.wait(wait_reason::shared_mutex, this);
}

bool shared_mutex::acquire_until(bool writer, timer::clock::time_point deadline) {
  parked<seeker> sleeper;
  sleeper.is_writer = writer;
  return acquire_or_enlist(sleeper) || detail::wait_until(sleeper, deadline, wait_reason::shared_mutex, this,
                                                          [this](waiter& queued) noexcept { return remove(queued); });
}

bool shared_mutex::acquire_unless(const std::stop_token& stop, bool writer) {
  parked<seeker> sleeper;
  sleeper.is_writer = writer;
  return acquire_or_enlist(sleeper) || detail::wait_unless(stop, sleeper, wait_reason::shared_mutex, this,
                                                           [this](waiter& queued) noexcept { return remove(queued); });
}

// Those behind one that gives up may go on: readers behind a writer.
bool shared_mutex::remove(waiter& waiting) noexcept {
  m_lock.lock();
  const bool was_waiting = m_waiting.remove(waiting);
  waiter* const granted = was_waiting ? grant_next() : nullptr;
  m_lock.unlock();
  waiter::notify_all(granted);
  return was_waiting;
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
  if (!m_has_writer) [[unlikely]]
    detail::misused("unlock of a shared mutex that no writer has locked", this);
  m_has_writer = false;
  waiter* const granted = grant_next();
  m_lock.unlock();
  waiter::notify_all(granted);
}

void shared_mutex::unlock_shared() noexcept {
  m_lock.lock();
  if (m_readers == 0) [[unlikely]]
    detail::misused("unlock_shared of a shared mutex that no reader has locked", this);
  m_readers -= 1;
  waiter* const granted = m_readers == 0 ? grant_next() : nullptr;
  m_lock.unlock();
  waiter::notify_all(granted);
}

}  // namespace trimtab::tasks
