#include "transport/byte_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::size_t tested_ring = 1024;

// Both ends of a ring in ordinary memory.
struct whole_ring {
  whole_ring() {
    writer.attach(memory());
    reader.attach(memory());
  }
  ring_memory memory() { return {&control, reinterpret_cast<std::byte*>(words.data()), tested_ring}; }
  write_result write(bytes_view bytes) { return writer.write(std::span(&bytes, 1), bytes.size()); }
  void read_all_released() {
    reader.next();
    reader.release();
  }

  ring_control control = {};
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(tested_ring / 8);
  ring_writer writer;
  ring_reader reader;
};

}  // namespace

TEST(byte_ring, behaves_like_a_queue_whatever_is_done) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    whole_ring ring;
    test_random random(seed);
    const message_pattern pattern(seed, 0, 1, tested_ring / 4);
    std::vector<std::byte> room;
    std::uint64_t written = 0, read = 0;
    for (int step = 0; step < 3000; ++step) {
      bytes_view message;
      if (random.below(100) < 30 + seed % 40) {
        const write_result result = ring.write(pattern.fill(written, room));
        ASSERT_NE(result, write_result::damaged);
        written += result == write_result::written;
        if (read == written && ring.reader.unreleased() == 0) {
          ASSERT_EQ(result, write_result::written) << "an empty ring takes any message";
        }
      } else if (random.below(4) == 0) {
        ring.reader.release();
      } else if (read == written) {
        ASSERT_EQ(ring.reader.peek(message), read_result::empty);
        ASSERT_FALSE(ring.reader.may_have_message());
      } else {
        ASSERT_TRUE(ring.reader.may_have_message());
        ASSERT_EQ(ring.reader.peek(message), read_result::message);
        ASSERT_TRUE(pattern.matches(read, message)) << "seed " << seed << ", message " << read;
        ring.reader.next();
        ++read;
      }
    }
    EXPECT_GT(read, 300u);
  }
}

TEST(byte_ring, what_is_not_released_is_not_written_over) {
  whole_ring ring;
  const std::vector<std::byte> bytes(100, std::byte{7}), others(100, std::byte{9});
  bytes_view first;
  ASSERT_EQ(ring.write(bytes), write_result::written);
  ASSERT_EQ(ring.reader.peek(first), read_result::message);
  ring.reader.next();
  while (ring.write(others) == write_result::written) continue;
  EXPECT_TRUE(std::ranges::equal(first, bytes));
}

TEST(byte_ring, a_writer_that_was_refused_is_rung_once_when_half_of_the_ring_is_free) {
  whole_ring ring;
  const std::vector<std::byte> bytes(56);  // 64 with its size
  std::size_t written = 0;
  EXPECT_FALSE(ring.writer.has_wanted_room()) << "nobody wants it";
  ring.reader.must_ring();  // a new ring's control is 0: once for nothing
  while (ring.write(bytes) == write_result::written) ++written;
  EXPECT_EQ(written, tested_ring / 64 - 1) << "the word after the last message needs room";
  EXPECT_FALSE(ring.writer.has_wanted_room());
  std::size_t read = 0;
  for (bytes_view message; !ring.reader.must_ring(); ++read) {
    ASSERT_EQ(ring.reader.peek(message), read_result::message);
    EXPECT_FALSE(ring.writer.has_wanted_room());
    ring.read_all_released();
  }
  EXPECT_EQ(read, written / 2);
  EXPECT_FALSE(ring.reader.must_ring());
  EXPECT_TRUE(ring.writer.has_wanted_room());
  EXPECT_FALSE(ring.writer.has_wanted_room()) << "it says so once";
}

TEST(byte_ring, no_damage_leads_outside) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    whole_ring ring;
    test_random random(seed);
    const std::vector<std::byte> bytes(200);
    const auto* begin = reinterpret_cast<const std::byte*>(ring.words.data());
    for (int step = 0; step < 300; ++step) {
      std::uint64_t& word = ring.words[random.below(ring.words.size())];
      const std::uint64_t values[] = {0, ring_memory::skip_marker, random.below(300), random.next(), tested_ring - 8};
      word = values[random.below(std::size(values))];
      if (random.below(10) == 0) ring.control.head = random.below(2) == 0 ? random.next() : random.below(5000);
      if (random.below(10) == 0) ring.control.wanted = random.next();
      ring.write(bytes_view(bytes).first(1 + random.below(200)));
      bytes_view message;
      if (ring.reader.peek(message) == read_result::message) {
        ASSERT_GE(message.data(), begin);
        ASSERT_LE(message.data() + message.size(), begin + tested_ring);
        ASSERT_LE(message.size(), tested_ring / 4);
        ring.reader.next();
      }
      ring.reader.release();
      ring.reader.must_ring();
    }
  }
}

TEST(byte_ring, a_head_that_cannot_be_is_damage) {
  for (const std::uint64_t head : {std::uint64_t{1} << 40, std::uint64_t{tested_ring}, ~std::uint64_t{0}}) {
    whole_ring ring;
    const std::vector<std::byte> bytes(200);
    write_result result = write_result::written;
    ring.control.head = head;  // more than was ever written
    for (int message = 0; message < 5 && result == write_result::written; ++message) result = ring.write(bytes);
    EXPECT_EQ(result, write_result::damaged) << head;
  }
}

TEST(byte_ring, two_threads_see_the_same_messages) {
  whole_ring ring;
  const std::uint64_t count = 300'000 / test_slowness;
  const message_pattern pattern(5, 0, 1, tested_ring / 4);
  std::jthread writing([&] {
    std::vector<std::byte> room;
    for (std::uint64_t index = 0; index < count;)
      if (ring.write(pattern.fill(index, room)) == write_result::written)
        ++index;
      else
        std::this_thread::yield();
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t index = 0; index < count;) {
    bytes_view message;
    if (ring.reader.peek(message) != read_result::message) {
      std::this_thread::yield();
      continue;
    }
    wrong += !pattern.matches(index, message);
    ring.read_all_released();
    ++index;
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace trimtab::parcels
