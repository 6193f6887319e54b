// What is where in the memory that the members of a job share. README.md has a picture.
//
// Any member could write anything anywhere. So whoever reads checks what it read before it uses it as a length or position.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

constexpr std::uint64_t segment_magic = 0x31'6d'68'73'6d'69'72'74;  // "trimshm1"
constexpr std::uint32_t segment_version = 1;
constexpr std::size_t smallest_ring = std::size_t{16} << 10, largest_ring = std::size_t{256} << 20;
// Two cache lines, because processors fetch the neighbour of a line as well.
constexpr std::size_t line_pair = 128;

enum class presence : std::uint32_t { absent, member, left, closed };  // closed: the transport ended without leave()

struct segment_header {
  std::uint64_t magic;  // written last: 0 while nobody has made the rest
  std::uint32_t version;
  std::uint32_t size;
  std::uint64_t ring_bytes;
  std::uint64_t secret[4];              // its digest
  std::atomic<std::uint32_t> arrivals;  // members that have come; a futex
};

// One per member. Only the member itself changes its state; the others read it.
struct alignas(line_pair) member_slot {
  std::atomic<presence> state;
  std::uint32_t has_membarrier;
  std::int64_t process;
  std::uint64_t start_time;  // of the process, as the kernel counts it: tells it from a later one with the same number
  char host[80];             // ends with 0
};

// What others tell a member. All of it in one line, which stays in the senders' caches while the member is awake.
struct alignas(line_pair) member_attention {
  // Bit n: there may be messages from senders whose number is n modulo 64. Senders set it, the receiver clears it.
  std::atomic<std::uint64_t> ready;
  std::atomic<std::uint32_t> news;  // counts changes of other members' states
  std::atomic<std::uint32_t> bell;  // see doorbell.hpp
};

// Of one ring: written by the receiver, except `wanted`. The sender's position is nobody else's business.
struct alignas(line_pair) ring_control {
  std::atomic<std::uint64_t> head;  // bytes that the receiver has finished with
  // The sender waits until head is so far; ~0: it does not wait. The receiver then rings its bell.
  std::atomic<std::uint64_t> wanted;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<presence>::is_always_lock_free);

class segment_layout {
 public:
  segment_layout(std::uint32_t size, std::size_t ring_bytes) : m_size(size), m_ring_bytes(ring_bytes) {}

  std::uint32_t size() const { return m_size; }
  std::size_t ring_bytes() const { return m_ring_bytes; }
  std::size_t slot(locality_number member) const { return page + member * sizeof(member_slot); }
  std::size_t attention(locality_number member) const { return slot(m_size) + member * sizeof(member_attention); }
  // A receiver's rings are neighbours, because it writes all their controls.
  std::size_t control(locality_number from, locality_number to) const {
    return controls() + pair(from, to) * sizeof(ring_control);
  }
  std::size_t data(locality_number from, locality_number to) const { return rings() + pair(from, to) * m_ring_bytes; }
  std::size_t total() const { return rings() + pairs() * m_ring_bytes; }

 private:
  static constexpr std::size_t page = 4096;
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }
  std::size_t pairs() const { return std::size_t{m_size} * m_size; }  // those of a member with itself are never touched
  std::size_t pair(locality_number from, locality_number to) const { return std::size_t{to} * m_size + from; }
  std::size_t controls() const { return whole_pages(attention(m_size)); }
  std::size_t rings() const { return whole_pages(controls() + pairs() * sizeof(ring_control)); }

  std::uint32_t m_size;
  std::size_t m_ring_bytes;
};

}  // namespace trimtab::parcels
