#include "trimtab/tasks/core/event_count.hpp"

#include "futex.hpp"

namespace trimtab::tasks {

bool event_count::wait(std::uint32_t key, std::uint64_t ns) noexcept {
  bool is_in_time = true;
  while (is_in_time && m_epoch.load(std::memory_order_acquire) == key) is_in_time = futex_wait(m_epoch, key, ns);
  m_sleepers.fetch_sub(1, std::memory_order_relaxed);
  return is_in_time || m_epoch.load(std::memory_order_acquire) != key;
}

void event_count::wake(std::uint32_t limit) noexcept {
  m_epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(&m_epoch, limit);
}

}  // namespace trimtab::tasks
