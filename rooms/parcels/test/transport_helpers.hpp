// What tests of transports share: messages whose bytes both sides know, and a sink that checks them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t test_slowness = 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t test_slowness = 10;
#else
constexpr std::uint64_t test_slowness = 1;
#endif
#else
constexpr std::uint64_t test_slowness = 1;
#endif

// More than any machine needs: a test that takes longer has found a fault.
constexpr std::uint64_t long_enough_ns = 100'000'000'000;

class test_deadline {
 public:
  bool is_over() const { return base::monotonic_ns() > m_end_ns; }

 private:
  std::uint64_t m_end_ns = base::monotonic_ns() + long_enough_ns;
};

// Random numbers that are the same everywhere.
class test_random {
 public:
  explicit test_random(std::uint64_t seed) : m_state(seed) {}
  std::uint64_t next() { return base::mix(m_state++); }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t m_state;
};

// The messages from one locality to another: size and bytes of message number `index` follow from the seed.
class message_pattern {
 public:
  message_pattern(std::uint64_t seed, locality_number from, locality_number to, std::size_t largest)
      : m_key(base::mix(seed) ^ base::mix(from * 1000u + to)), m_largest(largest) {}

  // Mostly small ones; each power of two is equally likely.
  std::size_t size_of(std::uint64_t index) const {
    std::uint64_t octaves = 1;
    while ((std::size_t{1} << octaves) <= m_largest) ++octaves;
    const std::uint64_t random = base::mix(m_key + index);
    const std::size_t octave = std::size_t{1} << random % octaves;
    return std::min(m_largest, octave + (random >> 32) % octave);
  }

  bytes_view fill(std::uint64_t index, std::vector<std::byte>& room) const {
    room.resize(size_of(index));
    for (std::size_t start = 0; start < room.size(); start += 8) {
      const std::uint64_t word = word_at(index, start);
      std::memcpy(room.data() + start, &word, std::min<std::size_t>(8, room.size() - start));
    }
    return room;
  }

  bool matches(std::uint64_t index, bytes_view bytes) const {
    if (bytes.size() != size_of(index)) return false;
    for (std::size_t start = 0; start < bytes.size(); start += 8) {
      const std::uint64_t word = word_at(index, start);
      if (std::memcmp(bytes.data() + start, &word, std::min<std::size_t>(8, bytes.size() - start)) != 0) return false;
    }
    return true;
  }

 private:
  std::uint64_t word_at(std::uint64_t index, std::size_t start) const {
    return base::mix_fast(m_key + index * 0x10001 + start);
  }

  std::uint64_t m_key;
  std::size_t m_largest;
};

// Counts and checks what one locality receives. Used by one thread at a time.
class checking_sink final : public message_sink {
 public:
  struct peer {
    std::uint64_t messages = 0, wrong = 0, left = 0, lost = 0, after_the_end = 0;
    std::string reason = {};
  };

  checking_sink(const transport& link, std::uint64_t seed, std::size_t largest) : m_peers(link.size()) {
    for (locality_number from = 0; from < link.size(); ++from) m_patterns.emplace_back(seed, from, link.number(), largest);
  }

  void on_message(locality_number from, bytes_view bytes) noexcept override {
    peer& sender = m_peers.at(from);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0;
    sender.wrong += !is_aligned || !m_patterns[from].matches(sender.messages, bytes);
    sender.after_the_end += sender.left + sender.lost;
    ++sender.messages;
  }
  void on_left(locality_number from) noexcept override { ++m_peers.at(from).left; }
  void on_lost(locality_number from, std::string_view reason) noexcept override {
    ++m_peers.at(from).lost;
    m_peers[from].reason = reason;
  }

  const peer& from(locality_number number) const { return m_peers.at(number); }
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const peer& sender : m_peers) sum += sender.messages;
    return sum;
  }
  // All that came was right, in order, and nothing came after an end.
  void expect_right() const {
    for (locality_number number = 0; number < m_peers.size(); ++number) {
      EXPECT_EQ(m_peers[number].wrong, 0u) << "wrong messages from locality " << number;
      EXPECT_EQ(m_peers[number].after_the_end, 0u) << "messages after the end of locality " << number;
      EXPECT_LE(m_peers[number].left + m_peers[number].lost, 1u) << "ends of locality " << number;
    }
  }

 private:
  std::vector<peer> m_peers;
  std::vector<message_pattern> m_patterns;
};

// Receives and waits until `is_done`. False, and a failure: it took too long.
template <class predicate>
bool receive_until(transport& link, message_sink& sink, const predicate& is_done, std::size_t limit = 64) {
  const test_deadline deadline;
  while (!is_done()) {
    if (link.receive(sink, limit) == 0 && !is_done()) link.wait(long_enough_ns);
    if (deadline.is_over()) {
      ADD_FAILURE() << "locality " << link.number() << " has waited for too long";
      return false;
    }
  }
  return true;
}

// Sends, and receives while there is no room. False, and a failure: the receiver is gone, or it took too long.
inline bool send_surely(transport& link, message_sink& sink, locality_number to, std::span<const bytes_view> parts) {
  send_status status = send_status::no_room;
  const auto is_over = [&] {
    if (status == send_status::no_room) status = link.try_send(to, parts);
    return status != send_status::no_room;
  };
  return receive_until(link, sink, is_over) && status == send_status::sent;
}
inline bool send_surely(transport& link, message_sink& sink, locality_number to, bytes_view message) {
  return send_surely(link, sink, to, std::span(&message, 1));
}

}  // namespace trimtab::parcels
