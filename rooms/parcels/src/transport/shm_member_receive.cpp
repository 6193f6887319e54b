// Receiving, and the ends of other members: what runs in receive().
#include <bit>

#include "transport/shm_member.hpp"

namespace trimtab::parcels {
namespace {

// After so many looks at empty rings, those that have stayed empty are looked at no more until their senders say so. That
// costs a heavy fence, so it is worth it only where several are empty.
constexpr std::uint32_t looks_before_cooling = 1u << 16;
constexpr int fewest_to_cool = 4;
// The share of a ring after which its room is given back, while more messages are read.
constexpr std::uint64_t release_share = 8;

}  // namespace

std::size_t shm_member::receive(message_sink& sink, std::size_t limit) noexcept {
  m_hot |= m_attention->ready.load(std::memory_order_relaxed);
  std::size_t count = 0;
  const std::uint32_t first = m_next_group;
  for (std::uint64_t rest = std::rotr(m_hot, static_cast<int>(first)); rest != 0 && count < limit; rest &= rest - 1) {
    const std::uint32_t group = (first + static_cast<std::uint32_t>(std::countr_zero(rest))) % groups;
    count += read_group(group, sink, limit - count);
  }
  if (has_news()) [[unlikely]]
    look_for_endings(sink);
  if (m_empty_looks >= looks_before_cooling) [[unlikely]]
    cool_rings();
  if (count == limit) {
    // More may be there, and a thread that has begun to sleep meanwhile may have looked where this one was reading.
    m_fence.light();
    m_bell->ring_if_asleep();
  }
  return count;
}

inline std::size_t shm_member::read_group(std::uint32_t group, message_sink& sink, std::size_t limit) noexcept {
  std::size_t count = 0;
  for (locality_number from = group; from < m_size; from += groups) count += read_ring(from, sink, limit - count);
  if (count == 0) {
    ++m_empty_looks;
    return 0;
  }
  m_active |= bit_of(group);
  m_next_group = (group + 1) % groups;  // so that a limit does not always favour the same ones
  return count;
}

inline std::size_t shm_member::read_ring(locality_number from, message_sink& sink, std::size_t limit) noexcept {
  incoming& source = m_incoming[from];
  std::size_t count = 0;
  for (bytes_view message; count < limit && !source.has_ended; ++count) {
    const read_result result = source.ring.peek(message);
    if (result == read_result::damaged) [[unlikely]] {
      source.is_damaged.store(true, std::memory_order_relaxed);
      add_own_news();
    }
    if (result != read_result::message) break;
    sink.on_message(from, message);
    source.ring.next();
    if (source.ring.unreleased() * release_share > m_largest_message * 4) release(from);
  }
  if (count != 0) release(from);
  return count;
}

// Pairs with the heavy fence of a sender that waits for room: either it sees the new head, or this sees what it wants.
void shm_member::release(locality_number from) noexcept {
  incoming& source = m_incoming[from];
  source.ring.release();
  m_fence.light();
  if (source.ring.must_ring()) [[unlikely]]
    doorbell(m_outgoing[from].attention->bell).ring_if_asleep();
}

void shm_member::cool_rings() noexcept {
  const std::uint64_t idle = m_hot & ~m_active;
  m_empty_looks = 0;
  m_active = 0;
  if (std::popcount(idle) < fewest_to_cool) return;
  m_attention->ready.fetch_and(~idle, std::memory_order_seq_cst);
  m_hot &= ~idle;
  // A sender that has published a message before this fence may have seen its bit set still; one that publishes later sets
  // it.
  m_fence.heavy();
  for (std::uint64_t rest = idle; rest != 0; rest &= rest - 1) {
    const std::uint64_t bit = rest & (~rest + 1);
    if (has_ready_message(bit)) m_attention->ready.fetch_or(bit, std::memory_order_seq_cst);
  }
}

// The acquires pair with the releases of whoever wrote this: the member itself, or the thread that saw its end.
shm_member::ending shm_member::ending_of(locality_number other) const noexcept {
  const incoming& source = m_incoming[other];
  if (source.is_damaged.load(std::memory_order_acquire)) return ending::damaged;
  const bool is_dead = source.is_dead.load(std::memory_order_acquire);
  // After that, because a process may end after it has left.
  const presence state = m_segment.slot(other).state.load(std::memory_order_acquire);
  if (state == presence::left) return ending::left;
  if (state == presence::closed) return ending::closed;
  return is_dead ? ending::dead : ending::none;
}

void shm_member::look_for_endings(message_sink& sink) noexcept {
  const std::uint32_t news = m_attention->news.load(std::memory_order_acquire);
  bool are_all_reported = true;
  for (locality_number other = 0; other < m_size; ++other) {
    if (other == m_number || m_incoming[other].has_ended) continue;
    const ending how = ending_of(other);
    if (how != ending::none && !report_ending(other, how, sink)) are_all_reported = false;
  }
  if (are_all_reported) m_seen_news.store(news, std::memory_order_relaxed);
}

// False: not yet, because there are messages before it.
bool shm_member::report_ending(locality_number other, ending how, message_sink& sink) noexcept {
  incoming& source = m_incoming[other];
  bytes_view message;
  m_outgoing[other].is_gone.store(true, std::memory_order_relaxed);
  if (how != ending::damaged && source.ring.peek(message) != read_result::empty) {
    // It may have been killed before it could set its bit.
    m_attention->ready.fetch_or(bit_of(other % groups), std::memory_order_relaxed);
    return false;
  }
  source.has_ended = true;
  if (how == ending::left)
    sink.on_left(other);
  else
    sink.on_lost(other, reason_of(other, how));
  return true;
}

std::string shm_member::reason_of(locality_number other, ending how) const {
  const std::string process = "process " + std::to_string(m_incoming[other].process);
  if (how == ending::dead) return process + " has ended";
  if (how == ending::damaged) return "its messages in shared memory are damaged";
  return process + " has closed its connection without leaving the job";
}

}  // namespace trimtab::parcels
