#include "trimtab/tasks/core/task_deque.hpp"

#include <sched.h>

#include <algorithm>

#include "pause.hpp"

namespace trimtab::tasks {

namespace {

constexpr int raid_patience = 200;
// Of offering::periodic, in pushes.
constexpr std::uint32_t offer_period = 32;
// At once by its owner, so that most of what it pushes and takes needs no atomic instruction.
constexpr std::uint32_t most_offered = 1024;
// An owner that is in an operation will answer, but not one that was preempted there.
constexpr std::uint32_t most_spared = 16;

}  // namespace

task_deque::task_deque(offering offers, std::uint32_t capacity) : m_offering(offers) {
  m_rings.push_back(std::make_unique<ring>(ring{std::make_unique<slot[]>(capacity), capacity - 1}));
  m_slots = m_rings.back()->slots.get();
  m_mask = capacity - 1;
  m_end = capacity;
  m_ring.store(m_rings.back().get(), std::memory_order_release);
}

task_deque::~task_deque() = default;

// The tail has moved since m_end was known, or the ring is full.
void task_deque::make_room() noexcept {
  const std::uint32_t tail = tail_of(m_bounds.load(std::memory_order_relaxed)) - shift();
  const auto in_use = [&] { return m_head.load(std::memory_order_relaxed) - tail; };
  if (in_use() > m_mask) {
    // So many holes were made since the last time that looking at each slot costs a few steps for each of them.
    if (m_holes_since > m_mask / 4) close_up();
    if (in_use() > m_mask - m_mask / 4) grow(tail);
  }
  m_end = tail + m_mask + 1;
}

void task_deque::grow(std::uint32_t tail) noexcept {
  const std::uint32_t capacity = 2 * (m_mask + 1);
  m_rings.push_back(std::make_unique<ring>(ring{std::make_unique<slot[]>(capacity), capacity - 1}));
  ring& larger = *m_rings.back();
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  for (std::uint32_t index = tail; index != head; ++index)
    larger.slots[index & larger.mask].store(task_at(index), std::memory_order_relaxed);
  m_slots = larger.slots.get();
  m_mask = larger.mask;
  m_ring.store(&larger, std::memory_order_release);
}

// Of the owner's part: thieves look at no slot of it.
void task_deque::close_up() noexcept {
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  std::uint32_t target = m_split;
  for (std::uint32_t position = m_split; position != head; ++position) {
    task* const item = task_at(position);
    if (item == nullptr) continue;
    if (target != position) {
      m_slots[target & m_mask].store(item, std::memory_order_relaxed);
      item->queue_place.store(target, std::memory_order_relaxed);
    }
    target += 1;
  }
  m_holes_since = 0;
  count_holes(target - head);
  m_head.store(target, std::memory_order_release);
}

void task_deque::make_hole(std::uint32_t position) noexcept {
  m_slots[position & m_mask].store(nullptr, std::memory_order_relaxed);
  m_holes_since += 1;
  count_holes(1);
}

// Also by a raider, in the owner's place.
void task_deque::drop_newest_holes() noexcept {
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  std::uint32_t target = head;
  while (target != m_split && task_at(target - 1) == nullptr) target -= 1;
  if (target == head) return;
  count_holes(target - head);
  m_head.store(target, std::memory_order_release);
}

// While nothing is offered, so that no thief can change the bounds.
void task_deque::drop_oldest_holes() noexcept {
  const std::uint32_t head = m_head.load(std::memory_order_relaxed), position = m_split;
  while (m_split != head && task_at(m_split) == nullptr) m_split += 1;
  if (m_split == position) return;
  count_holes(position - m_split);
  m_bounds.store(pack(m_split + shift(), m_split + shift()), std::memory_order_release);
}

// Half of the owner's part, rounded up, at most.
bool task_deque::offer() noexcept {
  m_is_wanted.store(false, std::memory_order_relaxed);
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  if (!is_nonempty(bounds)) {
    drop_oldest_holes();
    bounds = m_bounds.load(std::memory_order_relaxed);
  }
  const std::uint32_t own_count = m_head.load(std::memory_order_relaxed) - m_split;
  if (own_count == 0) return false;
  const std::uint32_t split = m_split + std::min((own_count + 1) / 2, most_offered);
  // Thieves move the tail only. seq_cst: a worker counts itself as a sleeper before it looks here (event_count).
  while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), split + shift()), std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) {
  }
  m_split = split;
  return true;
}

bool task_deque::push_slowly(task& item) noexcept {
  if (m_is_raided.load(std::memory_order_acquire)) wait_out_raid();
  if (m_head.load(std::memory_order_relaxed) == m_end) make_room();
  store_newest(m_head.load(std::memory_order_relaxed), item);
  if (may_offer()) return offer_pushed();
  leave();
  return false;
}

bool task_deque::take_slowly(const task& item) noexcept {
  if (m_is_raided.load(std::memory_order_acquire)) wait_out_raid();
  const bool is_removed = remove(item);
  leave();
  return is_removed;
}

bool task_deque::offer_pushed() noexcept {
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  const bool is_due = m_is_wanted.load(std::memory_order_relaxed) || m_offering == offering::on_demand ||
                      (m_offering == offering::periodic && (head - m_split == 1 || head % offer_period == 0));
  const bool is_offered = is_due && offer();
  leave();
  return is_offered;
}

// What thieves are to find while the owner is busy.
bool task_deque::offer_left() noexcept {
  return m_offering == offering::on_demand && !is_nonempty(m_bounds.load(std::memory_order_relaxed)) && offer();
}

// By an owner that takes what is its own and may not look elsewhere for long.
bool task_deque::offer_asked() noexcept {
  return (m_is_wanted.load(std::memory_order_relaxed) || m_offering == offering::on_demand) && offer();
}

bool task_deque::maintain() noexcept {
  enter();
  const bool is_offered = !is_nonempty(m_bounds.load(std::memory_order_relaxed)) && offer();
  leave();
  return is_offered;
}

// The newer half of what is offered becomes the owner's again. False: all is stolen.
bool task_deque::withdraw_offer() noexcept {
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  std::uint32_t count = 0;
  do {
    count = split_of(bounds) - tail_of(bounds);
    if (count == 0) return false;
  } while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), tail_of(bounds)), std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
  m_split -= (count + 1) / 2;
  open_again(tail_of(bounds));
  return true;
}

// After the offer was closed. Who goes to sleep meanwhile finds the queue not empty, by its size.
// Release: a thief that reads these bounds sees the shift and the slots as they are now.
void task_deque::open_again(std::uint32_t tail_in_bounds) noexcept {
  m_shift.store(shift() + 1, std::memory_order_release);
  m_bounds.store(pack(tail_in_bounds + 1, m_split + shift()), std::memory_order_release);
}

// True: there is a task, and the newest lies below the head.
bool task_deque::has_newest() noexcept {
  do {
    drop_newest_holes();
    if (m_head.load(std::memory_order_relaxed) != m_split) return true;
  } while (withdraw_offer());
  return false;
}

bool task_deque::remove(const task& item) noexcept {
  drop_newest_holes();
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  const std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  const std::uint32_t tail = tail_of(bounds) - shift();
  // Of a task that is not in this queue, the place is any number.
  const auto position = static_cast<std::uint32_t>(item.queue_place.load(std::memory_order_relaxed));
  if (position - tail >= head - tail || task_at(position) != &item) return false;
  if (position - tail < m_split - tail) return remove_offered(position);
  if (position + 1 == head) {
    m_head.store(position, std::memory_order_relaxed);
    return true;
  }
  if (position != m_split || is_nonempty(bounds)) {
    make_hole(position);
    return true;
  }
  // The oldest, while nothing is offered.
  m_split = position + 1;
  m_bounds.store(pack(m_split + shift(), m_split + shift()), std::memory_order_release);
  if (task_at(m_split) == nullptr) drop_oldest_holes();
  return true;
}

// False: a thief was faster.
bool task_deque::remove_offered(std::uint32_t position) noexcept {
  const std::uint32_t place = position + shift();
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t tail = tail_of(bounds);
    if (place - tail >= split_of(bounds) - tail) return false;
    // The oldest is taken as a thief would take it.
    const bool is_oldest = place == tail;
    const std::uint64_t next = is_oldest ? pack(tail + 1, split_of(bounds)) : pack(tail, tail);
    if (!m_bounds.compare_exchange_weak(bounds, next, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
    if (is_oldest) return true;
    make_hole(position);
    open_again(tail);
    return true;
  }
}

task* task_deque::pop_newest(bool& is_offered) noexcept {
  enter();
  task* item = nullptr;
  if (has_newest()) {
    const std::uint32_t newest = m_head.load(std::memory_order_relaxed) - 1;
    item = task_at(newest);
    m_head.store(newest, std::memory_order_relaxed);
    prefetch(newest - ahead);
    is_offered |= offer_left();
  }
  leave();
  return item;
}

task* task_deque::pop_oldest(bool& is_offered) noexcept {
  enter();
  task* item = nullptr;
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  while (item == nullptr && is_nonempty(bounds)) {
    const std::uint32_t tail = tail_of(bounds) - shift();
    task* const oldest = task_at(tail);
    prefetch(tail + ahead);
    const std::uint64_t next = pack(tail_of(bounds) + 1, split_of(bounds));
    if (!m_bounds.compare_exchange_weak(bounds, next, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
    bounds = next;
    item = oldest;
    if (oldest == nullptr) count_holes(~0u);
  }
  if (item == nullptr) {
    // Nothing is offered, so no thief can change the bounds.
    drop_oldest_holes();
    if (m_head.load(std::memory_order_relaxed) != m_split) {
      item = task_at(m_split);
      prefetch(m_split + ahead);
      m_split += 1;
      m_bounds.store(pack(m_split + shift(), m_split + shift()), std::memory_order_release);
    }
  }
  is_offered |= offer_left();
  leave();
  return item;
}

std::size_t task_deque::steal(task** batch, std::size_t limit) noexcept {
  for (;;) {
    std::uint64_t bounds = m_bounds.load(std::memory_order_acquire);
    const std::uint32_t offered = split_of(bounds) - tail_of(bounds);
    if (offered == 0) return 0;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(limit, (offered + 1) / 2));
    const ring& old_ring = *m_ring.load(std::memory_order_acquire);
    const std::uint32_t tail = tail_of(bounds) - m_shift.load(std::memory_order_relaxed);
    // If anything of this changes before the exchange, so do the bounds, and it fails.
    std::size_t number = 0;
    for (std::uint32_t i = 0; i < count; ++i)
      if (task* const item = old_ring.slots[(tail + i) & old_ring.mask].load(std::memory_order_relaxed))
        batch[number++] = item;
    if (!m_bounds.compare_exchange_strong(bounds, pack(tail_of(bounds) + count, split_of(bounds)), std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
      return 0;
    if (number != count) m_stolen_holes.fetch_add(count - static_cast<std::uint32_t>(number), std::memory_order_relaxed);
    if (number != 0) return number;
  }
}

bool task_deque::raid() noexcept {
  if (m_is_busy.load(std::memory_order_relaxed)) {
    const std::uint32_t spared = m_spared.load(std::memory_order_relaxed);
    if (spared < most_spared) {
      m_spared.store(spared + 1, std::memory_order_relaxed);
      return false;
    }
  }
  m_spared.store(0, std::memory_order_relaxed);
  if (m_is_raided.exchange(true, std::memory_order_acq_rel)) return false;
  heavy_fence();
  // The owner's operations are short, but it may have been preempted in one.
  for (int look = 0; m_is_busy.load(std::memory_order_acquire) && look < raid_patience; ++look) pause();
  bool is_offered = false;
  if (!m_is_busy.load(std::memory_order_acquire)) {
    // Who sleeps only if the queue is empty would not sleep for holes that the owner has no time to drop.
    drop_newest_holes();
    const std::uint32_t head = m_head.load(std::memory_order_relaxed);
    is_offered = head != m_split;
    if (is_offered) {
      const std::uint32_t split = m_split + (head - m_split + 1) / 2;
      std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
      while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), split + shift()), std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
      }
      m_split = split;
    }
  }
  m_is_raided.store(false, std::memory_order_release);
  return is_offered;
}

void task_deque::wait_out_raid() noexcept {
  do {
    m_is_busy.store(false, std::memory_order_release);
    for (int look = 0; m_is_raided.load(std::memory_order_acquire); ++look)
      look < raid_patience ? pause() : void(sched_yield());
    m_is_busy.store(true, std::memory_order_relaxed);
    light_fence();
  } while (m_is_raided.load(std::memory_order_acquire));
}

}  // namespace trimtab::tasks
