// The tasks of one worker. The newer part is the owner's: pushed and popped without atomic instructions. The older part
// is offered to thieves, who take several at once with one compare-and-swap.
//
//        tail ........ split ........ head
//         | offered      | the owner's  |
//
// The owner offers half of its own part when nothing is offered, or when a thief has asked. Does it not answer, because
// what it runs takes long, a thief may force the offer (raid): owners mark their operations as busy by plain stores, and
// a raider makes sure by heavy_fence that the owner is in none and will see it. One owner; any number of thieves.
//
// The owner may take any task out again (claim), wherever it lies: each task knows its position. What is taken out in the
// middle leaves a hole, an empty slot that everybody skips. Holes at either end go at once or with the next operation
// there, and when the ring is full the owner closes up the others before it lets the ring grow.
//
// The owner changes what is offered in three steps: it closes the offer (tail and split are equal), changes the slots and
// the split, and opens the offer again with a tail that is one higher than before. Thieves count positions from there, by
// m_shift. The pair of tail and split never has the same value twice while something is offered, so no thief can
// mistake the new offer for the one that it has read.
//
// This is the split deque of T. van Dijk and J. van de Pol, "Lace: Non-blocking Split Deque for Work-Stealing" (Euro-Par
// 2014 workshops). Thieves take about half of an offer: D. Hendler and N. Shavit, "Non-blocking Steal-half Work Queues"
// (PODC 2002). Owners answer requests as in U. Acar, A. Chargueraud and M. Rainey, "Scheduling Parallel Programs by Work
// Stealing with Private Deques" (PPoPP 2013). Raids, removal from the middle, and holes are additions of this file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trimtab/tasks/core/asymmetric_fence.hpp"
#include "trimtab/tasks/core/task.hpp"

namespace trimtab::tasks {

class task_deque {
 public:
  // When the owner offers without being asked: never; when nothing is offered; or at the first of a burst of pushes, every
  // so many pushes, and in `maintain`. It always does when asked.
  enum class offering : std::uint8_t { disabled, on_demand, periodic };

  explicit task_deque(offering offers, std::uint32_t capacity = 256);  // capacity: a power of two; it grows
  ~task_deque();
  task_deque(const task_deque&) = delete;
  task_deque& operator=(const task_deque&) = delete;

  // The owner's part.

  // True: something has been offered that was not before, so that a sleeping thief may be woken. Before thieves sleep they
  // make a heavy_fence and ask size(): either they count the task, or the owner sees here what they have stolen.
  bool push(task& item) noexcept {
    const bool is_raided = begin();
    const std::uint32_t head = m_head.load(std::memory_order_relaxed);
    if (is_raided || head == m_end) [[unlikely]]
      return push_slowly(item);
    store_newest(head, item);
    if (may_offer()) [[unlikely]]
      return offer_pushed();
    leave();
    return false;
  }

  // True: `item` was in the queue, and now belongs to the caller. The usual case is that it is the newest.
  bool claim(const task& item) noexcept {
    const bool is_raided = begin();
    const std::uint32_t head = m_head.load(std::memory_order_relaxed);
    if (is_raided || m_slots[(head - 1) & m_mask].load(std::memory_order_relaxed) != &item || head == m_split) [[unlikely]]
      return take_slowly(item);
    m_head.store(head - 1, std::memory_order_relaxed);
    leave();
    return true;
  }

  // The newest task if is_wanted(task), else nullptr. is_offered: as what push returns.
  template <class predicate>
  task* take_newest_if(predicate&& is_wanted, bool& is_offered) noexcept {
    enter();
    task* item = nullptr;
    if (has_newest()) {
      const std::uint32_t newest = m_head.load(std::memory_order_relaxed) - 1;
      item = m_slots[newest & m_mask].load(std::memory_order_relaxed);
      prefetch(newest - ahead);
      if (is_wanted(*item)) {
        m_head.store(newest, std::memory_order_relaxed);
        if (may_offer()) [[unlikely]]
          is_offered |= offer_asked();
      } else {
        item = nullptr;
      }
    }
    leave();
    return item;
  }

  // The newest or the oldest task, nullptr when there is none. `is_offered` as what push returns: before the owner runs
  // what may take long, thieves find what is left.
  task* pop_newest(bool& is_offered) noexcept;
  task* pop_oldest(bool& is_offered) noexcept;

  // Offers half of the owner's part when nothing is offered.
  bool maintain() noexcept;

  // The thieves' part.

  // Takes the oldest, at most `limit` and about half of what is offered. 0: nothing is offered, or another was faster.
  std::size_t steal(task** batch, std::size_t limit) noexcept;

  bool is_offering() const noexcept { return is_nonempty(m_bounds.load(std::memory_order_seq_cst)); }

  // Asks the owner to offer more at its next operation.
  void request_offer() noexcept {
    if (!m_is_wanted.load(std::memory_order_relaxed)) m_is_wanted.store(true, std::memory_order_relaxed);
  }

  // Offers half of the owner's part in its place. False: there was nothing, or the owner could not be excluded: one that
  // is in an operation answers by itself, and is left alone a few times.
  bool raid() noexcept;

  // About how many slots are in use, offered or not, with the holes among them. Never 0 while there is a task in it that was
  // pushed before. The order of the loads: m_shift is changed before the tail.
  std::uint32_t size() const noexcept {
    const std::uint32_t tail = tail_of(m_bounds.load(std::memory_order_acquire));
    const std::uint32_t shift = m_shift.load(std::memory_order_acquire);
    const auto length = static_cast<std::int32_t>(m_head.load(std::memory_order_acquire) + shift - tail);
    return length < 0 ? 0 : static_cast<std::uint32_t>(length);
  }
  // About how many tasks; exact while nothing changes. For reports: unlike size() it may be 0 for a moment too early.
  std::uint32_t tasks() const noexcept {
    const std::uint32_t length = size();
    const std::uint32_t holes = m_holes.load(std::memory_order_relaxed) - m_stolen_holes.load(std::memory_order_relaxed);
    return length < holes ? 0 : length - holes;
  }
  // For tests.
  std::uint32_t capacity() const noexcept { return m_mask + 1; }

 private:
  using slot = std::atomic<task*>;

  // Positions grow without end and wrap. Those in m_bounds are higher by m_shift than all others.
  static constexpr std::uint32_t tail_of(std::uint64_t bounds) noexcept { return static_cast<std::uint32_t>(bounds >> 32); }
  static constexpr std::uint32_t split_of(std::uint64_t bounds) noexcept { return static_cast<std::uint32_t>(bounds); }
  static constexpr bool is_nonempty(std::uint64_t bounds) noexcept { return tail_of(bounds) != split_of(bounds); }
  static constexpr std::uint64_t pack(std::uint32_t tail, std::uint32_t split) noexcept {
    return (std::uint64_t{tail} << 32) | split;
  }

  // What is usual is inline and calls nothing, so that it needs no registers to be saved; what is not goes on elsewhere
  // and does not come back.
  // True: the owner is to wait.
  bool begin() noexcept {
    m_is_busy.store(true, std::memory_order_relaxed);
    light_fence();
    return m_is_raided.load(std::memory_order_acquire);
  }
  void enter() noexcept {
    if (begin()) [[unlikely]]
      wait_out_raid();
  }
  void leave() noexcept { m_is_busy.store(false, std::memory_order_release); }

  // Tasks that were pushed long ago are no longer in the processor's cache: asked for so many pops before they are run.
  static constexpr std::uint32_t ahead = 32;
  // The task there, or whatever was: it is not looked at.
  void prefetch(std::uint32_t position) const noexcept {
    __builtin_prefetch(m_slots[position & m_mask].load(std::memory_order_relaxed), 1);
  }

  void store_newest(std::uint32_t head, task& item) noexcept {
    item.queue_place.store(head, std::memory_order_relaxed);
    m_slots[head & m_mask].store(&item, std::memory_order_relaxed);
    m_head.store(head + 1, std::memory_order_release);
    light_fence();
  }
  bool may_offer() const noexcept {
    return (!is_nonempty(m_bounds.load(std::memory_order_relaxed)) && m_offering != offering::disabled) ||
           m_is_wanted.load(std::memory_order_relaxed);
  }

  // These leave.
  bool push_slowly(task& item) noexcept;
  bool take_slowly(const task& item) noexcept;
  bool offer_pushed() noexcept;

  void wait_out_raid() noexcept;
  void make_room() noexcept;
  void grow(std::uint32_t tail) noexcept;
  bool offer() noexcept;
  bool offer_left() noexcept;
  bool offer_asked() noexcept;
  bool withdraw_offer() noexcept;
  bool has_newest() noexcept;
  bool remove(const task& item) noexcept;
  bool remove_offered(std::uint32_t position) noexcept;
  void open_again(std::uint32_t tail_in_bounds) noexcept;
  void make_hole(std::uint32_t position) noexcept;
  void count_holes(std::uint32_t count) noexcept {
    m_holes.store(m_holes.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  void drop_newest_holes() noexcept;
  void drop_oldest_holes() noexcept;
  void close_up() noexcept;
  std::uint32_t shift() const noexcept { return m_shift.load(std::memory_order_relaxed); }
  task* task_at(std::uint32_t position) const noexcept { return m_slots[position & m_mask].load(std::memory_order_relaxed); }

  // The owner's line.
  slot* m_slots;
  std::uint32_t m_mask;
  std::uint32_t m_end;  // the position that needs room to be made for
  std::uint32_t m_split = 0;
  std::atomic<std::uint32_t> m_head{0};
  std::atomic<bool> m_is_busy{false};
  const offering m_offering;
  std::uint32_t m_holes_since = 0;        // the holes that were made since they were last closed up
  std::atomic<std::uint32_t> m_holes{0};  // made, less those that the owner or a raider has dropped
  // What all change.
  alignas(64) std::atomic<std::uint64_t> m_bounds{0};
  std::atomic<std::uint32_t> m_shift{0};         // changed while nothing is offered
  std::atomic<std::uint32_t> m_stolen_holes{0};  // dropped by thieves
  alignas(64) std::atomic<bool> m_is_wanted{false};
  std::atomic<bool> m_is_raided{false};
  std::atomic<std::uint32_t> m_spared{0};  // raids in a row that left a busy owner alone, about
  // For thieves: the ring that is in use. Rings that were outgrown stay, since thieves may still read them.
  struct ring {
    std::unique_ptr<slot[]> slots;
    std::uint32_t mask;
  };
  std::atomic<ring*> m_ring;
  std::vector<std::unique_ptr<ring>> m_rings;
};

}  // namespace trimtab::tasks
