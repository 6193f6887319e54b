// The contract of waiting, waking up, and room.
#include <algorithm>
#include <atomic>
#include <thread>

#include "transport_contract.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t waiting_seed = 77;

void spin_for(std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Sends until there is no room, in a way that the transport itself can go on with what it has taken over. Returns how many
// messages it has taken over.
std::uint64_t fill_up(transport& link, checking_sink& sink, locality_number to, const message_pattern& pattern,
                      std::size_t most_bytes) {
  std::vector<std::byte> room;
  std::uint64_t count = 0, bytes = 0;
  for (int refusals = 0; refusals < 1000 && bytes <= most_bytes;) {
    if (link.try_send(to, pattern.fill(count, room)) == send_status::sent) {
      bytes += room.size();
      ++count;
      refusals = 0;
    } else {
      ++refusals;
      link.receive(sink, 1);
    }
  }
  EXPECT_LE(bytes, most_bytes) << "it must refuse what nobody receives";
  EXPECT_GT(count, 0u);
  return count;
}

}  // namespace

TEST_P(transport_contract, a_sender_is_refused_until_there_is_room_again) {
  for (const std::size_t largest : {std::size_t{16}, std::size_t{5000}, std::size_t{0}}) {
    const auto links = open_all(2);
    ASSERT_EQ(links.size(), 2u);
    const std::size_t bound = largest != 0 ? std::min(largest, links[0]->largest_message()) : links[0]->largest_message();
    checking_sink sender_sink(*links[0], waiting_seed, bound), sink(*links[1], waiting_seed, bound);
    const message_pattern pattern(waiting_seed, 0, 1, bound);
    const std::uint64_t refused = fill_up(*links[0], sender_sink, 1, pattern, GetParam().most_bytes_under_way);
    std::atomic<bool> has_all_arrived{false};
    std::jthread sender([&] {
      std::vector<std::byte> room;
      for (std::uint64_t index = refused; index < refused + 100; ++index)
        ASSERT_TRUE(send_surely(*links[0], sender_sink, 1, pattern.fill(index, room)));
      // What try_send has taken over goes on in receive.
      receive_until(*links[0], sender_sink, [&] { return has_all_arrived.load(); });
    });
    receive_until(*links[1], sink, [&] { return sink.messages() >= refused + 100; });
    has_all_arrived = true;
    links[0]->wake();
    sender.join();
    EXPECT_EQ(links[1]->receive(sink, 10), 0u) << "nothing of what was refused";
    sink.expect_right();
  }
}

TEST_P(transport_contract, a_slow_receiver_slows_its_sender_only) {
  const auto links = open_all(std::min(3u, GetParam().most_members));
  if (links.size() < 3) GTEST_SKIP() << "needs three members";
  checking_sink sink_0(*links[0], waiting_seed, 512), sink_2(*links[2], waiting_seed, 512);
  fill_up(*links[0], sink_0, 1, message_pattern(waiting_seed, 0, 1, 512), GetParam().most_bytes_under_way);
  const message_pattern pattern(waiting_seed, 0, 2, 512);
  std::atomic<bool> has_all_arrived{false};
  std::jthread sender([&] {
    std::vector<std::byte> room;
    for (std::uint64_t index = 0; index < 10'000 / test_slowness; ++index)
      ASSERT_TRUE(send_surely(*links[0], sink_0, 2, pattern.fill(index, room)));
    receive_until(*links[0], sink_0, [&] { return has_all_arrived.load(); });
  });
  receive_until(*links[2], sink_2, [&] { return sink_2.messages() >= 10'000 / test_slowness; });
  has_all_arrived = true;
  links[0]->wake();
  sink_2.expect_right();
}

TEST_P(transport_contract, wake_ends_a_wait_that_has_begun_or_will_begin) {
  const auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  const std::uint64_t rounds = 20'000 / test_slowness;
  std::atomic<std::uint64_t> requested{0}, answered{0};
  std::jthread waiter([&] {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      while (requested < round) links[0]->wait(long_enough_ns);
      answered = round;
    }
  });
  test_random random(waiting_seed);
  const test_deadline deadline;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    spin_for(random.below(8000));
    requested = round;
    links[0]->wake();
    while (answered < round && !deadline.is_over()) std::this_thread::yield();
    EXPECT_FALSE(deadline.is_over()) << "round " << round;
    if (deadline.is_over()) break;
  }
  while (answered < rounds) {
    requested = rounds;
    links[0]->wake();
  }
}

TEST_P(transport_contract, a_message_ends_a_wait_that_has_begun_or_will_begin) {
  const std::uint64_t rounds = 10'000 / test_slowness;
  run_all(2, [rounds](transport& link) {
    const locality_number other = 1 - link.number();
    checking_sink sink(link, waiting_seed, 64);
    const message_pattern pattern(waiting_seed, link.number(), other, 64);
    test_random random(waiting_seed + link.number());
    std::vector<std::byte> room;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      spin_for(random.below(4000));
      const bool answers = link.number() == 1;
      if (answers) {
        ASSERT_TRUE(receive_until(link, sink, [&] { return sink.messages() > round; }));
      }
      ASSERT_TRUE(send_surely(link, sink, other, pattern.fill(round, room)));
      if (!answers) {
        ASSERT_TRUE(receive_until(link, sink, [&] { return sink.messages() > round; }));
      }
    }
    sink.expect_right();
  });
}

TEST_P(transport_contract, room_ends_a_wait_that_has_begun_or_will_begin) {
  const std::uint64_t count = 3'000 / test_slowness;
  run_all(2, [count](transport& link) {
    const std::size_t largest = link.largest_message();
    checking_sink sink(link, waiting_seed, largest);
    // Only large ones, so that nearly every one is refused at first.
    std::vector<std::byte> bytes(largest);
    test_random random(waiting_seed);
    std::uint64_t received = 0;
    struct counter final : message_sink {
      explicit counter(std::uint64_t& target) : m_target(target) {}
      void on_message(locality_number, bytes_view) noexcept override { ++m_target; }
      void on_left(locality_number) noexcept override {}
      void on_lost(locality_number, std::string_view) noexcept override {}
      std::uint64_t& m_target;
    } counting(received);
    for (std::uint64_t index = 0; link.number() == 0 && index < count; ++index)
      ASSERT_TRUE(send_surely(link, counting, 1, bytes_view(bytes)));
    while (link.number() == 1 && received < count) {
      ASSERT_TRUE(receive_until(link, counting, [&, before = received] { return received > before; }, 1));
      spin_for(random.below(4000));
    }
  });
}

TEST_P(transport_contract, room_ends_the_wait_of_another_thread_than_the_refused_one) {
  const auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  checking_sink sender_sink(*links[0], waiting_seed, 4096), sink(*links[1], waiting_seed, 4096);
  const message_pattern pattern(waiting_seed, 0, 1, 4096);
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> returns{0};
  std::jthread waiter([&] {
    while (!is_over) {
      links[0]->wait(long_enough_ns);
      links[0]->receive(sender_sink, 1);
      ++returns;
    }
  });
  std::vector<std::byte> room;
  std::uint64_t sent = 0;
  const test_deadline deadline;
  for (int round = 0; round < 20 && !deadline.is_over(); ++round) {
    for (int refusals = 0; refusals < 100;)
      if (links[0]->try_send(1, pattern.fill(sent, room)) == send_status::sent) {
        ++sent;
        refusals = 0;
      } else {
        ++refusals;
        std::this_thread::yield();
      }
    const std::uint64_t before = returns;
    receive_until(*links[1], sink, [&] { return sink.messages() == sent; });
    while (returns == before && !deadline.is_over()) std::this_thread::yield();
  }
  EXPECT_FALSE(deadline.is_over());
  is_over = true;
  links[0]->wake();
  waiter.join();
  sink.expect_right();
}

TEST_P(transport_contract, wait_ends_when_its_time_is_over) {
  const auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  for (int round = 0; round < 20; ++round) links[0]->wait(1'000'000);
  for (int round = 0; round < 100; ++round) links[0]->wait(0);
}

TEST_P(transport_contract, members_that_wait_do_not_use_the_cpu) {
  auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  checking_sink sink_0(*links[0], waiting_seed, 8), sink_1(*links[1], waiting_seed, 8);
  std::vector<std::byte> room;
  ASSERT_TRUE(send_surely(*links[0], sink_0, 1, message_pattern(waiting_seed, 0, 1, 8).fill(0, room)));
  ASSERT_TRUE(receive_until(*links[1], sink_1, [&] { return sink_1.messages() == 1; }));

  const std::uint64_t begin_ns = base::monotonic_ns(), idle_ns = 500'000'000;
  const std::uint64_t begin_cpu_ns = base::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  {
    std::vector<std::jthread> threads;
    for (const auto& link : links)
      threads.emplace_back([&] {
        for (std::uint64_t spent = 0; spent < idle_ns; spent = base::monotonic_ns() - begin_ns) link->wait(idle_ns - spent);
      });
  }
  EXPECT_LT(base::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns, idle_ns / 10);
}

TEST_P(transport_contract, senders_the_receiver_and_wakers_work_at_once) {
  const std::uint32_t size = std::min(4u, GetParam().most_members);
  const std::uint64_t count = 20'000 / test_slowness;
  run_all(size, [count](transport& link) {
    checking_sink sink(link, waiting_seed, 128);
    std::atomic<bool> is_done{false};
    std::vector<std::jthread> threads;
    const auto send = [&](locality_number to) {
      const message_pattern pattern(waiting_seed, link.number(), to, 128);
      std::vector<std::byte> room;
      const test_deadline deadline;
      for (std::uint64_t index = 0; index < count && !deadline.is_over();)
        if (link.try_send(to, pattern.fill(index, room)) == send_status::sent)
          ++index;
        else
          std::this_thread::yield();
      EXPECT_FALSE(deadline.is_over());
    };
    for (locality_number to = 0; to < link.size(); ++to)
      if (to != link.number()) threads.emplace_back(send, to);
    threads.emplace_back([&] {
      while (!is_done) {
        link.wake();
        std::this_thread::yield();
      }
    });
    receive_until(link, sink, [&] { return sink.messages() >= count * (link.size() - 1); }, 16);
    // The transport may need receive() to go on with what was sent.
    is_done = true;
    for (std::jthread& thread : threads) thread.join();
    sink.expect_right();
  });
}

}  // namespace trimtab::parcels
