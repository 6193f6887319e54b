// A ring of bytes with messages of any size, for one thread that writes and one that reads, in the same or in two processes.
//
//            head                            tail
//             v                               v
//   ....free..[size|bytes..][size|bytes......][0]..free..[skip]....
//
// Invariant: the word at the tail is 0. The writer first makes the word after the new message 0, copies the message, and
// then publishes it by its size (release). The reader waits for the word at its own head to change (acquire). So a small
// message costs the transfer of one cache line, and there is no tail to share. A writer that is killed leaves nothing or all
// of a message. A message never goes around the end of the ring: a skip marker there says that it is at the beginning.
//
// What the other side has written is checked before it is used, so that no damage leads outside the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/segment_layout.hpp"

namespace trimtab::parcels {

struct ring_memory {
  ring_control* control = nullptr;
  std::byte* data = nullptr;  // aligned to 8
  std::size_t bytes = 0;      // a power of two

  std::size_t largest_message() const noexcept { return bytes / 4; }
  // The word at a position. Other accesses to the same memory (the copies of messages) are ordered by the publication of a
  // size and by that of the head.
  std::atomic_ref<std::uint64_t> word(std::uint64_t offset) const noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(data + offset));
  }

  static constexpr std::uint64_t skip_marker = ~std::uint64_t{0};
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::size_t word_bytes = 8;
  static std::size_t record_bytes(std::size_t message) noexcept { return word_bytes + (message + 7) / 8 * 8; }
};

enum class write_result : std::uint8_t { written, full, damaged };

// Used by one thread at a time, except for has_wanted_room.
class ring_writer {
 public:
  // Before the first write: the ring is empty.
  void attach(const ring_memory& memory) noexcept { m_memory = memory; }

  // size: the sum of the parts, 1 to largest_message().
  write_result write(std::span<const bytes_view> parts, std::size_t size) noexcept {
    const std::uint64_t record = ring_memory::record_bytes(size), offset = m_tail & (m_memory.bytes - 1);
    const std::uint64_t until_end = m_memory.bytes - offset, skipped = until_end < record ? until_end : 0;
    const std::uint64_t needed = skipped + record + ring_memory::word_bytes;
    if (m_tail + needed - m_head > m_memory.bytes) [[unlikely]]
      if (const write_result result = look_for_room(needed); result != write_result::written) return result;

    const std::uint64_t begin = skipped != 0 ? 0 : offset;
    m_memory.word((begin + record) & (m_memory.bytes - 1)).store(0, std::memory_order_relaxed);
    copy(parts, m_memory.data + begin + ring_memory::word_bytes);
    if (skipped != 0) m_memory.word(begin).store(size, std::memory_order_relaxed);
    m_memory.word(offset).store(skipped != 0 ? ring_memory::skip_marker : size, std::memory_order_release);
    m_tail += skipped + record;
    return write_result::written;
  }

  // Whether there is room now after a write that found the ring full; says so once. For any thread.
  bool has_wanted_room() noexcept {
    std::uint64_t wanted = m_wanted.load(std::memory_order_relaxed);
    if (wanted == ring_memory::never || m_memory.control->head.load(std::memory_order_relaxed) < wanted) return false;
    // Not if the writer has found the ring full once more meanwhile.
    m_wanted.compare_exchange_strong(wanted, ring_memory::never, std::memory_order_relaxed);
    return true;
  }

 private:
  // written: there is.
  write_result look_for_room(std::uint64_t needed) noexcept {
    const std::uint64_t head = m_memory.control->head.load(std::memory_order_acquire);
    if (head < m_head || head > m_tail) return write_result::damaged;
    m_head = head;
    if (m_tail + needed - m_head <= m_memory.bytes) return write_result::written;
    // Half of the ring, so that a sender that waits is not woken for each message.
    const std::uint64_t wanted = m_tail + (needed > m_memory.bytes / 2 ? needed : m_memory.bytes / 2) - m_memory.bytes;
    m_memory.control->wanted.store(wanted, std::memory_order_relaxed);
    m_wanted.store(wanted, std::memory_order_relaxed);
    return write_result::full;
  }

  static void copy(std::span<const bytes_view> parts, std::byte* target) noexcept {
    for (const bytes_view part : parts) {
      if (part.empty()) continue;
      std::memcpy(target, part.data(), part.size());
      target += part.size();
    }
  }

  ring_memory m_memory;
  std::uint64_t m_tail = 0, m_head = 0;  // the head as this side has seen it
  std::atomic<std::uint64_t> m_wanted{ring_memory::never};
};

enum class read_result : std::uint8_t { message, empty, damaged };

// Used by one thread at a time, except for may_have_message.
class ring_reader {
 public:
  // Before the first peek: nothing of the ring has been read.
  void attach(const ring_memory& memory) noexcept { m_memory = memory; }

  // The message stays in the ring until release() has been called after next().
  read_result peek(bytes_view& message) noexcept {
    std::uint64_t begin = m_head.load(std::memory_order_relaxed), offset = begin & (m_memory.bytes - 1);
    std::uint64_t size = m_memory.word(offset).load(std::memory_order_acquire);
    if (size == 0) return read_result::empty;
    if (size == ring_memory::skip_marker) [[unlikely]] {
      begin += m_memory.bytes - offset;
      offset = 0;
      size = m_memory.word(0).load(std::memory_order_relaxed);
    }
    if (size - 1 >= m_memory.largest_message() || offset + ring_memory::record_bytes(size) > m_memory.bytes) [[unlikely]]
      return read_result::damaged;
    message = {m_memory.data + offset + ring_memory::word_bytes, size};
    m_next = begin + ring_memory::record_bytes(size);
    return read_result::message;
  }
  // Goes on to the message after the one that peek has given.
  void next() noexcept { m_head.store(m_next, std::memory_order_relaxed); }
  // So much is finished and not released yet.
  std::uint64_t unreleased() const noexcept { return m_head.load(std::memory_order_relaxed) - m_released; }
  // Gives the room of what is finished to the writer. Pairs with look_for_room's acquire.
  void release() noexcept {
    m_released = m_head.load(std::memory_order_relaxed);
    m_memory.control->head.store(m_released, std::memory_order_release);
  }
  // After release() and a fence: whether the writer waits for the room that there is now. Says so once.
  bool must_ring() noexcept {
    std::uint64_t wanted = m_memory.control->wanted.load(std::memory_order_relaxed);
    while (wanted <= m_released)
      if (m_memory.control->wanted.compare_exchange_weak(wanted, ring_memory::never, std::memory_order_relaxed)) return true;
    return false;
  }
  // For any thread. Never false if there is a message, and this is not being read.
  bool may_have_message() const noexcept {
    return m_memory.word(m_head.load(std::memory_order_relaxed) & (m_memory.bytes - 1)).load(std::memory_order_relaxed) != 0;
  }

 private:
  ring_memory m_memory;
  std::atomic<std::uint64_t> m_head{0};  // stored by the reading thread only
  std::uint64_t m_next = 0, m_released = 0;
};

}  // namespace trimtab::parcels
