// The contract of members that leave or are lost.
#include <algorithm>
#include <thread>

#include "transport_contract.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t ends_seed = 4711;
constexpr std::size_t ends_largest = 3000;

// Messages 0 to count - 1 of the pattern, or until there is lastingly no room. Returns how many were sent.
std::uint64_t send_some(transport& link, locality_number to, std::uint64_t count) {
  const message_pattern pattern(ends_seed, link.number(), to, ends_largest);
  std::vector<std::byte> room;
  std::uint64_t index = 0;
  for (int refusals = 0; index < count && refusals < 1000; ++refusals)
    if (link.try_send(to, pattern.fill(index, room)) == send_status::sent) {
      ++index;
      refusals = 0;
    }
  return index;
}

checking_sink ends_sink(const transport& link) { return {link, ends_seed, ends_largest}; }

void expect_gone(transport& link, locality_number other) {
  EXPECT_EQ(link.try_send(other, bytes_view(reinterpret_cast<const std::byte*>("12345678"), 8)), send_status::gone);
}

}  // namespace

TEST_P(transport_contract, who_leaves_is_heard_after_its_last_message) {
  auto links = open_all(3);
  ASSERT_EQ(links.size(), 3u);
  for (locality_number to = 1; to < 3; ++to) ASSERT_EQ(send_some(*links[0], to, 10), 10u);
  EXPECT_TRUE(links[0]->leave(long_enough_ns));
  links[0].reset();
  for (locality_number number = 1; number < 3; ++number) {
    checking_sink sink = ends_sink(*links[number]);
    receive_until(*links[number], sink, [&] { return sink.from(0).left == 1; }, 1);
    EXPECT_EQ(sink.from(0).messages, 10u);
    expect_gone(*links[number], 0);
    for (int round = 0; round < 100; ++round) links[number]->receive(sink, 10);
    EXPECT_EQ(sink.from(3 - number).left + sink.from(3 - number).lost, 0u);
    sink.expect_right();
  }
}

TEST_P(transport_contract, what_was_sent_before_leaving_is_received_however_much_it_is) {
  auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  const std::uint64_t count = send_some(*links[0], 1, 1'000'000);
  ASSERT_GT(count, 0u);
  std::jthread leaver([&] {
    EXPECT_TRUE(links[0]->leave(long_enough_ns));
    links[0].reset();
  });
  checking_sink sink = ends_sink(*links[1]);
  receive_until(*links[1], sink, [&] { return sink.from(0).left == 1; });
  EXPECT_EQ(sink.from(0).messages, count);
  sink.expect_right();
  leaver.join();
}

TEST_P(transport_contract, leave_returns_although_nobody_receives) {
  auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  send_some(*links[0], 1, 1'000'000);
  links[0]->leave(1'000'000);
  links[0].reset();
  checking_sink sink = ends_sink(*links[1]);
  receive_until(*links[1], sink, [&] { return sink.from(0).left + sink.from(0).lost == 1; });
  sink.expect_right();
}

TEST_P(transport_contract, who_ends_without_leaving_is_lost) {
  for (int round = 0; round < 10; ++round) {
    auto links = open_all(3);
    ASSERT_EQ(links.size(), 3u);
    const std::uint64_t count = send_some(*links[0], 1, 100);
    links[0].reset();
    for (locality_number number = 1; number < 3; ++number) {
      checking_sink sink = ends_sink(*links[number]);
      receive_until(*links[number], sink, [&] { return sink.from(0).lost == 1; });
      EXPECT_LE(sink.from(0).messages, number == 1 ? count : 0);
      EXPECT_NE(sink.from(0).reason, "");
      expect_gone(*links[number], 0);
      for (int again = 0; again < 100; ++again) links[number]->receive(sink, 10);
      sink.expect_right();
    }
  }
}

TEST_P(transport_contract, an_end_ends_a_wait_that_has_begun_or_will_begin) {
  test_random random(ends_seed);
  for (int round = 0; round < 60; ++round) {
    auto links = open_all(2);
    ASSERT_EQ(links.size(), 2u);
    std::jthread waiter([&] {
      checking_sink sink = ends_sink(*links[1]);
      receive_until(*links[1], sink, [&] { return sink.from(0).left + sink.from(0).lost == 1; });
      EXPECT_EQ(sink.from(0).lost, round % 2 == 0 ? 1u : 0u);
    });
    for (std::uint64_t spin = random.below(100); spin > 0; --spin) std::this_thread::yield();
    if (round % 2 == 1) {
      EXPECT_TRUE(links[0]->leave(long_enough_ns));
    }
    links[0].reset();
  }
}

TEST_P(transport_contract, a_sender_that_waits_for_room_hears_that_its_receiver_is_gone) {
  for (const bool leaves : {false, true}) {
    auto links = open_all(2);
    ASSERT_EQ(links.size(), 2u);
    send_some(*links[0], 1, 1'000'000);
    std::jthread sender([&] {
      checking_sink sink = ends_sink(*links[0]);
      std::vector<std::byte> room(links[0]->largest_message());
      // Nobody receives, so sooner or later it must wait until the receiver ends.
      while (send_surely(*links[0], sink, 1, bytes_view(room))) continue;
      expect_gone(*links[0], 1);
      receive_until(*links[0], sink, [&] { return sink.from(1).left + sink.from(1).lost == 1; });
    });
    if (leaves) links[1]->leave(long_enough_ns);
    links[1].reset();
  }
}

TEST_P(transport_contract, all_leave_at_once) {
  for (int round = 0; round < 50; ++round) {
    auto links = open_all(std::min(4u, GetParam().most_members));
    std::vector<std::jthread> threads;
    for (auto& link : links)
      threads.emplace_back([&link] {
        checking_sink sink = ends_sink(*link);
        EXPECT_TRUE(link->leave(long_enough_ns));
        const auto ends = [&] {
          std::uint64_t sum = 0;
          for (locality_number other = 0; other < link->size(); ++other) sum += sink.from(other).left;
          return sum;
        };
        receive_until(*link, sink, [&] { return ends() == link->size() - 1; });
        link.reset();
      });
  }
}

TEST_P(transport_contract, who_has_left_can_still_receive) {
  auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_TRUE(links[0]->leave(long_enough_ns));
  checking_sink sink = ends_sink(*links[0]);
  EXPECT_TRUE(links[1]->leave(long_enough_ns));
  receive_until(*links[0], sink, [&] { return sink.from(1).left == 1; });
}

}  // namespace trimtab::parcels
