// Tasks from threads other than the queue's owner: first in, first out, under a lock that is held for a few
// instructions. Every thread may enqueue and dequeue.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/core/task.hpp"

namespace trimtab::tasks {

class inbox {
 public:
  void enqueue(task& item) noexcept {
    item.queue_place.store(0, std::memory_order_relaxed);
    m_lock.lock();
    if (m_last == nullptr)
      m_first = &item;
    else
      m_last->queue_place.store(reinterpret_cast<std::uintptr_t>(&item), std::memory_order_relaxed);
    m_last = &item;
    // seq_cst: a worker that goes to sleep has counted itself before it looks here (event_count).
    m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    m_lock.unlock();
  }

  // The same, but while more than most_in_turn tasks wait, the newest comes first. Then a task ends, with all tasks that it
  // creates, before older tasks begin: this limits memory if each task creates more tasks.
  void enqueue_bounded(task& item) noexcept {
    if (m_size.load(std::memory_order_relaxed) <= most_in_turn) return enqueue(item);
    m_lock.lock();
    item.queue_place.store(reinterpret_cast<std::uintptr_t>(m_first), std::memory_order_relaxed);
    m_first = &item;
    if (m_last == nullptr) m_last = &item;
    m_size.store(m_size.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    m_lock.unlock();
  }
  static constexpr std::uint32_t most_in_turn = 1024;

  // The oldest, nullptr when there is none.
  task* dequeue() noexcept {
    if (m_size.load(std::memory_order_seq_cst) == 0) return nullptr;
    m_lock.lock();
    task* const first = m_first;
    if (first != nullptr) {
      m_first = reinterpret_cast<task*>(first->queue_place.load(std::memory_order_relaxed));
      if (m_first == nullptr) m_last = nullptr;
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
  task* m_last = nullptr;
};

}  // namespace trimtab::tasks
