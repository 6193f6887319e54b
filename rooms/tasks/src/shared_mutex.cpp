#include "trimtab/tasks/sync/shared_mutex.hpp"

#include <mutex>

#include "trimtab/tasks/core/misuse.hpp"

namespace trimtab::tasks {

bool shared_mutex::try_take(bool writer) noexcept {
  const std::lock_guard guard(m_lock);
  if (!m_waiting.is_empty() || !is_free_for(writer)) return false;
  grant(writer);
  return true;
}

bool shared_mutex::take_or_enlist(seeker& who) noexcept {
  const std::lock_guard guard(m_lock);
  if (m_waiting.is_empty() && is_free_for(who.is_writer)) {
    grant(who.is_writer);
    return true;
  }
  m_waiting.push(who);
  return false;
}

void shared_mutex::take(bool writer) {
  parked<seeker> here;
  here.is_writer = writer;
  if (!take_or_enlist(here)) here.told.wait(wait_reason::shared_mutex, this);
}

bool shared_mutex::take_until(bool writer, timer::clock::time_point deadline) {
  parked<seeker> here;
  here.is_writer = writer;
  return take_or_enlist(here) ||
         detail::wait_until(here, deadline, wait_reason::shared_mutex, this, [this](waiter& who) noexcept { return remove(who); });
}

bool shared_mutex::take_unless(const std::stop_token& stop, bool writer) {
  parked<seeker> here;
  here.is_writer = writer;
  return take_or_enlist(here) ||
         detail::wait_unless(stop, here, wait_reason::shared_mutex, this, [this](waiter& who) noexcept { return remove(who); });
}

// Those behind one that gives up may go on: readers behind a writer.
bool shared_mutex::remove(waiter& who) noexcept {
  m_lock.lock();
  const bool is_found = m_waiting.remove(who);
  waiter* const granted = is_found ? grant_next() : nullptr;
  m_lock.unlock();
  waiter::tell_all(granted);
  return is_found;
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
  waiter::tell_all(granted);
}

void shared_mutex::unlock_shared() noexcept {
  m_lock.lock();
  if (m_readers == 0) [[unlikely]]
    detail::misused("unlock_shared of a shared mutex that no reader has locked", this);
  m_readers -= 1;
  waiter* const granted = m_readers == 0 ? grant_next() : nullptr;
  m_lock.unlock();
  waiter::tell_all(granted);
}

}  // namespace trimtab::tasks
