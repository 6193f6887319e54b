// A queue of slot numbers with a fixed capacity: any threads push, any threads take.
//
// Each cell has a turn, which says whether it is empty or full and in which round: D. Vyukov, "Bounded MPMC queue"
// (1024cores.net). A push publishes its cell by a store of the turn, a take gives it back in the same way. No thread waits
// for another one. A thread that is stopped between claiming a cell and publishing it hides later cells until it goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace trimtab::parcels {

class bounded_queue {
 public:
  // capacity: a power of two, at least 2.
  explicit bounded_queue(std::uint32_t capacity) : m_mask(capacity - 1), m_cells(std::make_unique<cell[]>(capacity)) {
    for (std::uint32_t place = 0; place < capacity; ++place) m_cells[place].turn.store(place, std::memory_order_relaxed);
  }

  // False: it is full. The sequentially consistent store pairs with has_one() of who goes to sleep.
  bool push(std::uint32_t value) noexcept {
    std::uint32_t tail = m_tail.load(std::memory_order_relaxed);
    for (;;) {
      cell& place = m_cells[tail & m_mask];
      const auto ahead = static_cast<std::int32_t>(place.turn.load(std::memory_order_acquire) - tail);
      if (ahead < 0) return false;
      if (ahead == 0 && m_tail.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed)) {
        place.value = value;
        place.turn.store(tail + 1, std::memory_order_seq_cst);
        return true;
      }
      if (ahead > 0) tail = m_tail.load(std::memory_order_relaxed);
    }
  }

  // False: it is empty, or the oldest push has not been published yet.
  bool take(std::uint32_t& value) noexcept {
    std::uint32_t head = m_head.load(std::memory_order_relaxed);
    for (;;) {
      cell& place = m_cells[head & m_mask];
      const auto ahead = static_cast<std::int32_t>(place.turn.load(std::memory_order_acquire) - (head + 1));
      if (ahead < 0) return false;
      if (ahead == 0 && m_head.compare_exchange_weak(head, head + 1, std::memory_order_relaxed)) {
        value = place.value;
        place.turn.store(head + m_mask + 1, std::memory_order_release);
        return true;
      }
      if (ahead > 0) head = m_head.load(std::memory_order_relaxed);
    }
  }

  // Whether take() would return something, unless somebody else takes it.
  bool has_one() const noexcept {
    const std::uint32_t head = m_head.load(std::memory_order_seq_cst);
    return m_cells[head & m_mask].turn.load(std::memory_order_seq_cst) == head + 1;
  }

 private:
  struct cell {
    std::atomic<std::uint32_t> turn;
    std::uint32_t value = 0;
  };

  const std::uint32_t m_mask;
  const std::unique_ptr<cell[]> m_cells;
  alignas(64) std::atomic<std::uint32_t> m_tail{0};  // pushes that have claimed a cell
  alignas(64) std::atomic<std::uint32_t> m_head{0};  // takes
};

}  // namespace trimtab::parcels
