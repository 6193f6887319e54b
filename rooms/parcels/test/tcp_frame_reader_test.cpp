#include "transport/tcp_frame_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "transport/tcp_pending_bytes.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels::tcp {
namespace {

constexpr std::size_t reader_limit = 200'000;

void append_frame(std::vector<std::byte>& stream, frame_kind kind, bytes_view body) {
  const frame_header header{static_cast<std::uint32_t>(body.size()), kind};
  const auto head = bytes_of(header);
  stream.insert(stream.end(), head.begin(), head.end());
  stream.insert(stream.end(), body.begin(), body.end());
  stream.resize(padded(stream.size()));
}

// Gives the reader the next bytes of the stream, up to `most`.
std::size_t feed(frame_reader& reader, bytes_view rest, std::size_t largest) {
  const std::span<std::byte> space = reader.space();
  const std::size_t count = std::min({largest, rest.size(), space.size()});
  std::memcpy(space.data(), rest.data(), count);
  reader.add(count);
  return count;
}

frame_content content_after(const std::vector<std::byte>& stream, std::string* fault = nullptr) {
  frame_reader reader(reader_limit);
  std::size_t fed = 0;
  for (;;) {
    const frame_content content = reader.next().content;
    if (fault != nullptr) *fault = reader.fault();
    if (content != frame_content::incomplete || fed == stream.size()) return content;
    fed += feed(reader, bytes_view(stream).subspan(fed), 7);
  }
}

}  // namespace

TEST(tcp_frame_reader, cuts_messages_whatever_the_splits) {
  for (std::uint64_t seed = 0; seed < 60 / test_slowness + 1; ++seed) {
    test_random random(seed);
    const message_pattern pattern(seed, 0, 1, reader_limit);
    std::vector<std::byte> stream, room;
    for (std::uint64_t index = 0; index < 50; ++index) append_frame(stream, frame_kind::message, pattern.fill(index, room));
    append_frame(stream, frame_kind::leaving, {});
    frame_reader reader(reader_limit);
    std::uint64_t messages = 0;
    frame_content last = frame_content::incomplete;
    for (std::size_t fed = 0; fed < stream.size();) {
      fed += feed(reader, bytes_view(stream).subspan(fed), 1 + random.below(std::size_t{1} << random.below(18)));
      for (frame_reader::frame next = reader.next(); next.content != frame_content::incomplete; next = reader.next()) {
        last = next.content;
        if (last != frame_content::message) break;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(next.body.data()) % 8, 0u) << "seed " << seed;
        ASSERT_TRUE(pattern.matches(messages, next.body)) << "seed " << seed << ", message " << messages;
        ++messages;
      }
    }
    EXPECT_EQ(messages, 50u) << "seed " << seed;
    EXPECT_EQ(last, frame_content::leaving) << "seed " << seed;
    EXPECT_FALSE(reader.has_bytes());
    EXPECT_LE(reader.capacity(), frame_bytes(reader_limit));
  }
}

TEST(tcp_frame_reader, survives_random_bytes) {
  for (std::uint64_t seed = 0; seed < 20'000 / test_slowness; ++seed) {
    test_random random(seed);
    std::vector<std::byte> stream;
    // Some frames that are right, and then one that random bytes were written over.
    for (std::uint64_t frames = random.below(4); frames > 0; --frames)
      append_frame(stream, frame_kind::message, std::vector<std::byte>(1 + random.below(40)));
    const std::size_t begin = stream.size();
    append_frame(stream, frame_kind::message, std::vector<std::byte>(1 + random.below(40)));
    for (std::uint64_t changes = random.below(12); changes > 0; --changes)
      stream[begin + random.below(stream.size() - begin)] = static_cast<std::byte>(random.next());
    frame_reader reader(reader_limit);
    bool has_ended = false;
    for (std::size_t fed = 0; fed < stream.size() && !has_ended;) {
      fed += feed(reader, bytes_view(stream).subspan(fed), 1 + random.below(30));
      frame_reader::frame next = reader.next();
      for (; next.content == frame_content::message; next = reader.next()) {
        ASSERT_GE(next.body.size(), 1u);
        ASSERT_LE(next.body.size(), stream.size());
      }
      has_ended = next.content != frame_content::incomplete;
      EXPECT_EQ(next.content == frame_content::broken, !reader.fault().empty()) << "seed " << seed;
    }
    EXPECT_LE(reader.capacity(), frame_bytes(reader_limit)) << "seed " << seed;
  }
}

TEST(tcp_frame_reader, says_what_is_wrong_with_a_frame) {
  const std::byte one{1};
  const auto fault_of = [&](std::uint32_t bytes, frame_kind kind, bytes_view body) {
    std::vector<std::byte> stream;
    append_frame(stream, kind, body);
    std::memcpy(stream.data(), &bytes, sizeof bytes);
    std::string fault;
    EXPECT_EQ(content_after(stream, &fault), frame_content::broken);
    return fault;
  };
  EXPECT_EQ(fault_of(0, frame_kind::message, {}), "it sent a message of 0 bytes, expected 1 to 200000");
  EXPECT_EQ(fault_of(200'001, frame_kind::message, {}), "it sent a message of 200001 bytes, expected 1 to 200000");
  EXPECT_EQ(fault_of(~0u, frame_kind::message, {}), "it sent a message of 4294967295 bytes, expected 1 to 200000");
  EXPECT_EQ(fault_of(1, frame_kind::leaving, {&one, 1}), "it sent a frame of its leaving of 1 bytes, expected 0 to 0");
  EXPECT_EQ(fault_of(0, frame_kind::hello, {}), "it sent a frame of the unknown kind 0x54540003");
  EXPECT_EQ(fault_of(0, frame_kind{0x20544547}, {}), "it sent a frame of the unknown kind 0x20544547");
  const std::array<std::byte, 2> two{one, one};
  EXPECT_EQ(fault_of(1, frame_kind::message, two), "it sent a message of 1 bytes with other bytes than zeros behind it");
}

TEST(tcp_frame_reader, keeps_whole_frames_up_to_a_limit) {
  frame_reader reader(reader_limit);
  const message_pattern pattern(1, 0, 1, 100);
  std::vector<std::byte> stream, room;
  while (stream.size() < 400'000) append_frame(stream, frame_kind::message, pattern.fill(0, room));
  std::size_t fed = 0;
  for (std::span<std::byte> space = reader.space_for_many(200'000); !space.empty(); space = reader.space_for_many(200'000)) {
    std::memcpy(space.data(), stream.data() + fed, space.size());
    reader.add(space.size());
    fed += space.size();
  }
  EXPECT_GE(fed, 200'000u);
  EXPECT_LT(fed, 400'000u);
  std::size_t taken = 0;
  for (; reader.next().content == frame_content::message; ++taken) {
  }
  EXPECT_EQ(taken, fed / frame_bytes(room.size()));
}

TEST(tcp_pending_bytes, gives_back_what_was_appended) {
  test_random random(3);
  pending_bytes pending;
  std::vector<std::byte> expected;
  for (int step = 0; step < 20'000; ++step) {
    if (random.below(2) == 0) {
      std::vector<std::byte> bytes(random.below(300));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
      ASSERT_TRUE(pending.append(bytes));
      expected.insert(expected.end(), bytes.begin(), bytes.end());
    } else {
      const std::size_t count = random.below(pending.front().size() + 1);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), pending.front().begin(), pending.front().end()));
      pending.remove_front(count);
      expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count));
    }
    ASSERT_EQ(pending.is_empty(), expected.empty());
  }
}

}  // namespace trimtab::parcels::tcp
