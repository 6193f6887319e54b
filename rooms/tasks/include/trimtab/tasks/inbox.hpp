// Tasks that come from others than the queue's owner: first in, first out, under a lock that is held for a few
// instructions. Anyone may put and take.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/task.hpp"

namespace trimtab::tasks {

class inbox {
 public:
  void put(task& what) noexcept {
    what.next = nullptr;
    m_lock.lock();
    *m_end = &what;
    m_end = &what.next;
    // seq_cst: who goes to sleep has told so before it looks here (event_count).
    m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    m_lock.unlock();
  }

  // The oldest, nullptr when there is none.
  task* take() noexcept {
    if (m_size.load(std::memory_order_seq_cst) == 0) return nullptr;
    m_lock.lock();
    task* const first = m_first;
    if (first != nullptr) {
      m_first = first->next;
      if (m_first == nullptr) m_end = &m_first;
      m_size.store(m_size.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    m_lock.unlock();
    return first;
  }

  std::uint32_t size() const noexcept { return m_size.load(std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<std::uint32_t> m_size{0};
  base::spin_lock m_lock;
  task* m_first = nullptr;
  task** m_end = &m_first;
};

}  // namespace trimtab::tasks
