#include "trimtab/tasks/sync/permits.hpp"

#include <mutex>

namespace trimtab::tasks::detail {

bool permits::enlist(waiter& waiting) noexcept {
  const std::lock_guard guard(m_lock);
  if (m_handed > 0) {
    m_handed -= 1;
    return false;
  }
  m_waiting.push(waiting);
  return true;
}

// Each permit to the one who has waited longest, without a moment in which another could take it.
void permits::hand_over(std::int64_t count) noexcept {
  m_lock.lock();
  waiter* notified = nullptr;
  waiter** end = &notified;
  for (; count > 0; --count) {
    waiter* const oldest = m_waiting.pop();
    if (oldest == nullptr) break;
    *end = oldest;
    oldest->next = nullptr;
    end = &oldest->next;
  }
  m_handed += count;
  m_lock.unlock();
  waiter::notify_all(notified);
}

bool permits::remove(waiter& waiting) noexcept {
  const std::lock_guard guard(m_lock);
  if (!m_waiting.holds(waiting)) return false;
  std::int64_t available = m_count.load(std::memory_order_relaxed);
  do {
    // For each who waits a permit is on its way, also for this one.
    if (available >= 0) return false;
  } while (!m_count.compare_exchange_weak(available, available + 1, std::memory_order_relaxed));
  return m_waiting.remove(waiting);
}

}  // namespace trimtab::tasks::detail
