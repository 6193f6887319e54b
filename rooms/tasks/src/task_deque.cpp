#include "trimtab/tasks/task_deque.hpp"

#include <sched.h>

#include <algorithm>

#include "trimtab/tasks/pause.hpp"

namespace trimtab::tasks {

namespace {

// How deep `take` looks: what is forked in a row is usually waited for in the same order or the reverse.
constexpr std::uint32_t deepest_take = 8;
constexpr int raid_patience = 200;
// Of offering::periodic, in pushes.
constexpr std::uint32_t offer_period = 32;
// At once by its owner: what is offered has to be laid down anew when the owner takes it back.
constexpr std::uint32_t most_offered = 1024;
// An owner that is in an operation will answer, but not one that was preempted there.
constexpr std::uint32_t most_spared = 16;

}  // namespace

task_deque::task_deque(offering when, std::uint32_t capacity) : m_offering(when) {
  m_rings.push_back(std::make_unique<ring>(ring{std::make_unique<slot[]>(capacity), capacity - 1}));
  m_slots = m_rings.back()->slots.get();
  m_mask = capacity - 1;
  m_end = capacity;
  m_ring.store(m_rings.back().get(), std::memory_order_release);
}

task_deque::~task_deque() = default;

// The tail has moved since m_end was known, or the ring is full.
void task_deque::make_room() noexcept {
  const std::uint32_t tail = tail_of(m_bounds.load(std::memory_order_relaxed));
  if (m_head.load(std::memory_order_relaxed) - tail > m_mask) grow(tail);
  m_end = tail + m_mask + 1;
}

void task_deque::grow(std::uint32_t tail) noexcept {
  const std::uint32_t capacity = 2 * (m_mask + 1);
  m_rings.push_back(std::make_unique<ring>(ring{std::make_unique<slot[]>(capacity), capacity - 1}));
  ring& larger = *m_rings.back();
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  for (std::uint32_t at = tail; at != head; ++at)
    larger.slots[at & larger.mask].store(m_slots[at & m_mask].load(std::memory_order_relaxed), std::memory_order_relaxed);
  m_slots = larger.slots.get();
  m_mask = larger.mask;
  m_ring.store(&larger, std::memory_order_release);
}

// Half of the owner's part, rounded up, at most.
bool task_deque::offer() noexcept {
  m_is_wanted.store(false, std::memory_order_relaxed);
  const std::uint32_t own = m_head.load(std::memory_order_relaxed) - m_split;
  if (own == 0) return false;
  const std::uint32_t split = m_split + std::min((own + 1) / 2, most_offered);
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  // Thieves move the tail only. seq_cst: who goes to sleep has told so before it looks here (event_count).
  while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), split), std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) {
  }
  m_split = split;
  return true;
}

bool task_deque::push_slowly(task& what) noexcept {
  if (m_is_raided.load(std::memory_order_acquire)) wait_out_raid();
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  if (head == m_end) make_room();
  put(head, what);
  if (may_offer()) return offer_pushed();
  leave();
  return false;
}

bool task_deque::take_slowly(const task& what) noexcept {
  if (m_is_raided.load(std::memory_order_acquire)) wait_out_raid();
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  bool is_taken = false;
  if (m_slots[(head - 1) & m_mask].load(std::memory_order_relaxed) != &what) {
    is_taken = take_deeper(what);
  } else if (head != m_split || take_back()) {
    m_head.store(m_head.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    is_taken = true;
  }
  leave();
  return is_taken;
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
  return m_offering == offering::on_demand && !has_any(m_bounds.load(std::memory_order_relaxed)) && offer();
}

// By an owner that takes what is its own and may not look elsewhere for long.
bool task_deque::offer_asked() noexcept {
  return (m_is_wanted.load(std::memory_order_relaxed) || m_offering == offering::on_demand) && offer();
}

bool task_deque::maintain() noexcept {
  enter();
  const bool is_offered = !has_any(m_bounds.load(std::memory_order_relaxed)) && offer();
  leave();
  return is_offered;
}

// What is offered becomes the owner's again, the older half of it only for a moment. False: all is stolen.
// The owner takes it as a thief would, and lays it down anew at later positions: so the tail never returns, and what lies
// at a position that is offered never changes. Else a thief that has read a slot could find the same bounds over another
// task.
bool task_deque::take_back() noexcept {
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  std::uint32_t count = 0;
  do {
    count = m_split - tail_of(bounds);
    // Before the tail moves: who goes to sleep must not find the queue empty meanwhile.
    m_head.store(m_split + count, std::memory_order_release);
    if (count == 0) return false;
  } while (
      !m_bounds.compare_exchange_weak(bounds, pack(m_split, m_split), std::memory_order_acq_rel, std::memory_order_relaxed));
  // The owner's part was empty. Where the ring is too short for both places, they overlap such that forward is right.
  for (std::uint32_t i = 0; i < count; ++i)
    m_slots[(m_split + i) & m_mask].store(m_slots[(tail_of(bounds) + i) & m_mask].load(std::memory_order_relaxed),
                                          std::memory_order_relaxed);
  const std::uint32_t tail = m_split;
  m_split += count / 2;
  // The head has moved on, maybe beyond where room was to be made; of the ring no more is in use than before.
  m_end = tail + m_mask + 1;
  // Nothing was offered, so no thief can have changed the bounds.
  m_bounds.store(pack(tail, m_split), std::memory_order_seq_cst);
  return true;
}

bool task_deque::take_deeper(const task& what) noexcept {
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  const std::uint32_t own = head - m_split;
  for (std::uint32_t depth = 2; depth <= std::min(own, deepest_take); ++depth) {
    if (m_slots[(head - depth) & m_mask].load(std::memory_order_relaxed) != &what) continue;
    for (std::uint32_t at = head - depth; at + 1 != head; ++at)
      m_slots[at & m_mask].store(m_slots[(at + 1) & m_mask].load(std::memory_order_relaxed), std::memory_order_relaxed);
    m_head.store(head - 1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

task* task_deque::pop_newest(bool& is_offered) noexcept {
  enter();
  task* found = nullptr;
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  if (head != m_split || take_back()) {
    const std::uint32_t newest = m_head.load(std::memory_order_relaxed) - 1;
    found = m_slots[newest & m_mask].load(std::memory_order_relaxed);
    m_head.store(newest, std::memory_order_relaxed);
    prefetch(newest - ahead);
    is_offered |= offer_left();
  }
  leave();
  return found;
}

task* task_deque::pop_oldest(bool& is_offered) noexcept {
  enter();
  task* found = nullptr;
  std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
  while (has_any(bounds)) {
    found = m_slots[tail_of(bounds) & m_mask].load(std::memory_order_relaxed);
    prefetch(tail_of(bounds) + ahead);
    if (m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds) + 1, m_split), std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
      break;
    found = nullptr;
  }
  const std::uint32_t head = m_head.load(std::memory_order_relaxed);
  if (found == nullptr && head != m_split) {
    // Nothing is offered, so no thief can change the bounds.
    found = m_slots[m_split & m_mask].load(std::memory_order_relaxed);
    prefetch(m_split + ahead);
    m_split += 1;
    m_bounds.store(pack(m_split, m_split), std::memory_order_release);
  }
  is_offered |= offer_left();
  leave();
  return found;
}

std::size_t task_deque::steal(task** into, std::size_t most) noexcept {
  std::uint64_t bounds = m_bounds.load(std::memory_order_acquire);
  const std::uint32_t offered = split_of(bounds) - tail_of(bounds);
  if (offered == 0) return 0;
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(most, (offered + 1) / 2));
  const ring& from = *m_ring.load(std::memory_order_acquire);
  // What is offered does not change until the tail has passed it, and then the exchange fails: the tail never returns.
  for (std::uint32_t i = 0; i < count; ++i)
    into[i] = from.slots[(tail_of(bounds) + i) & from.mask].load(std::memory_order_relaxed);
  if (!m_bounds.compare_exchange_strong(bounds, pack(tail_of(bounds) + count, split_of(bounds)), std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
    return 0;
  return count;
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
    const std::uint32_t head = m_head.load(std::memory_order_relaxed);
    is_offered = head != m_split;
    if (is_offered) {
      const std::uint32_t split = m_split + (head - m_split + 1) / 2;
      std::uint64_t bounds = m_bounds.load(std::memory_order_relaxed);
      while (!m_bounds.compare_exchange_weak(bounds, pack(tail_of(bounds), split), std::memory_order_seq_cst,
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
