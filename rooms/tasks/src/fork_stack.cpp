#include "trimtab/tasks/fork_stack.hpp"

namespace trimtab::tasks {

void fork_stack::offer() noexcept {
  const std::uint32_t split = m_split + (m_head - m_split + 1) / 2;
  if (split == m_split) return;
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  // Thieves move the tail only. seq_cst: who goes to sleep has told so before it looks here (event_count).
  while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), split), std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) {
  }
  m_split = split;
  m_offers += 1;
  m_is_wanted.store(false, std::memory_order_relaxed);
}

bool fork_stack::take_back() noexcept {
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t tail = tail_of(bounds);
    if (tail == m_split) return false;  // all are stolen, the newest too
    const std::uint32_t split = tail + (m_split - tail) / 2;
    if (!m_bounds.compare_exchange_weak(bounds, pack(tail, split), std::memory_order_acq_rel, std::memory_order_relaxed))
      continue;
    m_split = split;
    m_head -= 1;
    return true;
  }
}

}  // namespace trimtab::tasks
