#include "transport_contract.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

#include "transport_helpers.hpp"

namespace trimtab::parcels {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(transport_contract);

std::vector<opened_transport> transport_contract::open_these(const std::vector<membership>& members,
                                                             std::uint32_t meeting_size) {
  const auto meeting = GetParam().new_meeting(meeting_size);
  std::vector<opened_transport> results(members.size());
  std::vector<std::jthread> threads;
  for (std::size_t place = 0; place < members.size(); ++place)
    threads.emplace_back([&, place] { results[place] = meeting->open(members[place]); });
  threads.clear();
  return results;
}

std::vector<std::unique_ptr<transport>> transport_contract::open_all(std::uint32_t size) {
  std::vector<membership> members;
  for (locality_number number = 0; number < size; ++number) members.push_back({number, size, "a secret"});
  std::vector<std::unique_ptr<transport>> links;
  for (opened_transport& result : open_these(members, size)) {
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.link == nullptr, !result.error.empty()) << "one of the two";
    if (result.link) links.push_back(std::move(result.link));
  }
  if (links.size() != size) links.clear();
  return links;
}

void transport_contract::run_all(std::uint32_t size, const std::function<void(transport&)>& work) {
  auto links = open_all(size);
  ASSERT_EQ(links.size(), size);
  run_links(links, work);
}

void transport_contract::run_links(std::vector<std::unique_ptr<transport>>& links,
                                   const std::function<void(transport&)>& work) {
  // Receives while others are at work: what this one has sent may need its help.
  struct : message_sink {
    void on_message(locality_number from, bytes_view) noexcept override {
      ADD_FAILURE() << "a message too many from locality " << from;
    }
    void on_left(locality_number from) noexcept override { ADD_FAILURE() << "locality " << from << " has not left yet"; }
    void on_lost(locality_number from, std::string_view reason) noexcept override {
      ADD_FAILURE() << "locality " << from << " was lost: " << reason;
    }
  } nothing_expected;
  std::atomic<std::size_t> done{0};
  std::barrier all_done(static_cast<std::ptrdiff_t>(links.size()));
  std::vector<std::jthread> threads;
  for (auto& link : links)
    threads.emplace_back([&] {
      work(*link);
      if (++done == links.size())
        for (auto& other : links) other->wake();
      receive_until(*link, nothing_expected, [&] { return done == links.size(); });
      all_done.arrive_and_wait();
      EXPECT_TRUE(link->leave(long_enough_ns));
    });
  threads.clear();
  links.clear();
}

namespace {

constexpr std::uint64_t contract_seed = 20250;

// Sends the first messages of the patterns to all others, in turn.
void send_to_all(transport& link, checking_sink& sink, std::uint64_t count, std::size_t largest) {
  std::vector<std::byte> room;
  for (std::uint64_t index = 0; index < count; ++index)
    for (locality_number to = 0; to < link.size(); ++to) {
      if (to == link.number()) continue;
      const message_pattern pattern(contract_seed, link.number(), to, largest);
      if (!send_surely(link, sink, to, pattern.fill(index, room))) return;
    }
}

void all_to_all(transport& link, std::uint64_t count, std::size_t largest) {
  checking_sink sink(link, contract_seed, largest);
  send_to_all(link, sink, count, largest);
  receive_until(link, sink, [&] { return sink.messages() >= count * (link.size() - 1); });
  sink.expect_right();
  for (locality_number from = 0; from < link.size(); ++from)
    EXPECT_EQ(sink.from(from).messages, from == link.number() ? 0 : count);
}

// The bytes in three parts, some of which are empty.
std::vector<bytes_view> in_parts(bytes_view bytes, test_random& random) {
  const std::size_t first = random.below(bytes.size() + 1), second = random.below(bytes.size() - first + 1);
  return {bytes.first(first), {}, bytes.subspan(first, second), bytes.subspan(first + second), {}};
}

}  // namespace

TEST_P(transport_contract, says_who_its_members_are) {
  const auto links = open_all(3);
  ASSERT_EQ(links.size(), 3u);
  for (locality_number number = 0; number < 3; ++number) {
    const transport& link = *links[number];
    EXPECT_EQ(link.number(), number);
    EXPECT_EQ(link.size(), 3u);
    EXPECT_STRNE(link.name(), "");
    EXPECT_GE(link.largest_message(), 4096u);
    for (locality_number other = 0; other < 3; ++other) {
      if (other == number) continue;
      EXPECT_EQ(link.host_of(other), links[0]->host_of(1)) << "all are on this host";
      EXPECT_NE(link.host_of(other), "");
      EXPECT_EQ(link.process_of(other), getpid());
    }
  }
}

TEST_P(transport_contract, a_job_of_one_waits_and_wakes_up) {
  run_all(1, [](transport& link) {
    checking_sink sink(link, contract_seed, 8);
    const test_deadline deadline;
    link.wake();
    link.wait(long_enough_ns);
    EXPECT_FALSE(deadline.is_over()) << "wake() was before wait()";
    EXPECT_EQ(link.receive(sink, 10), 0u);
  });
}

TEST_P(transport_contract, messages_of_all_sizes_arrive_whole) {
  run_all(2, [](transport& link) {
    const std::size_t largest = link.largest_message();
    std::vector<std::size_t> sizes;
    for (std::size_t size = 1; size <= 300; ++size) sizes.push_back(size);
    for (std::size_t size = 512; size < largest; size *= 2) sizes.insert(sizes.end(), {size - 1, size, size + 1});
    sizes.insert(sizes.end(), {largest - 1, largest, 1, largest});

    struct : message_sink {
      std::vector<std::vector<std::byte>> messages = {};
      std::size_t unaligned = 0;
      void on_message(locality_number, bytes_view bytes) noexcept override {
        unaligned += reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0;
        messages.emplace_back(bytes.begin(), bytes.end());
      }
      void on_left(locality_number) noexcept override {}
      void on_lost(locality_number, std::string_view) noexcept override {}
    } sink;
    test_random random(contract_seed);
    std::vector<std::byte> bytes(largest);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());

    if (link.number() == 0) {
      for (const std::size_t size : sizes)
        EXPECT_TRUE(send_surely(link, sink, 1, in_parts(bytes_view(bytes).last(size), random))) << size;
      return;
    }
    receive_until(link, sink, [&] { return sink.messages.size() >= sizes.size(); });
    ASSERT_EQ(sink.messages.size(), sizes.size());
    EXPECT_EQ(sink.unaligned, 0u);
    for (std::size_t place = 0; place < sizes.size(); ++place)
      EXPECT_TRUE(std::ranges::equal(sink.messages[place], bytes_view(bytes).last(sizes[place])))
          << sizes[place] << " bytes";
  });
}

TEST_P(transport_contract, the_sender_may_reuse_its_bytes_at_once) {
  run_all(2, [](transport& link) {
    const std::uint64_t count = 500 / test_slowness;
    checking_sink sink(link, contract_seed, link.largest_message());
    const message_pattern pattern(contract_seed, 0, 1, link.largest_message());
    std::vector<std::byte> room;
    for (std::uint64_t index = 0; link.number() == 0 && index < count; ++index) {
      ASSERT_TRUE(send_surely(link, sink, 1, pattern.fill(index, room)));
      std::ranges::fill(room, std::byte{0xee});
    }
    if (link.number() == 1) receive_until(link, sink, [&] { return sink.messages() >= count; });
    sink.expect_right();
  });
}

TEST_P(transport_contract, keeps_the_order_of_many_small_messages) {
  const std::uint64_t count = 3'000'000 / test_slowness;
  struct counting : message_sink {
    std::uint64_t next = 0, wrong = 0;
    void on_message(locality_number, bytes_view bytes) noexcept override {
      std::uint64_t index = 0;
      std::memcpy(&index, bytes.data(), std::min<std::size_t>(8, bytes.size()));
      wrong += bytes.size() != 8 + index % 16 || index != next;
      ++next;
    }
    void on_left(locality_number) noexcept override {}
    void on_lost(locality_number, std::string_view) noexcept override {}
  };
  run_all(2, [count](transport& link) {
    counting sink;
    std::byte bytes[24] = {};
    for (std::uint64_t index = 0; link.number() == 0 && index < count; ++index) {
      std::memcpy(bytes, &index, sizeof index);
      ASSERT_TRUE(send_surely(link, sink, 1, bytes_view(bytes, 8 + index % 16)));
    }
    if (link.number() == 1) receive_until(link, sink, [&] { return sink.next >= count; }, 1000);
    EXPECT_EQ(sink.wrong, 0u);
    EXPECT_EQ(sink.next, link.number() == 0 ? 0 : count);
  });
}

TEST_P(transport_contract, all_send_to_all) {
  run_all(std::min(4u, GetParam().most_members), [](transport& link) { all_to_all(link, 20'000 / test_slowness, 256); });
}

TEST_P(transport_contract, nothing_is_lost_or_doubled_whatever_sizes_and_limits) {
  run_all(std::min(3u, GetParam().most_members), [](transport& link) {
    const std::size_t largest = link.largest_message();
    const std::uint64_t count = 3'000 / test_slowness;
    checking_sink sink(link, contract_seed, largest);
    test_random random(contract_seed + link.number());
    std::vector<std::byte> room;
    std::vector<std::uint64_t> sent(link.size());
    const auto is_complete = [&] {
      return sink.messages() >= count * (link.size() - 1) &&
             std::ranges::count(sent, count) == static_cast<std::ptrdiff_t>(link.size()) - 1;
    };
    const test_deadline deadline;
    while (!is_complete() && !deadline.is_over()) {
      const auto to = static_cast<locality_number>(random.below(link.size()));
      if (to != link.number() && sent[to] < count) {
        const message_pattern pattern(contract_seed, link.number(), to, largest);
        const bytes_view message = pattern.fill(sent[to], room);
        sent[to] += link.try_send(to, in_parts(message, random)) == send_status::sent;
      }
      if (random.below(4) != 0) continue;
      const std::size_t limit = random.below(2) == 0 ? 1 : random.below(100);
      EXPECT_LE(link.receive(sink, limit), limit);
      if (random.below(64) == 0) link.wait(100'000);
    }
    EXPECT_TRUE(is_complete()) << "received " << sink.messages();
    sink.expect_right();
  });
}

TEST_P(transport_contract, receive_gives_no_more_than_its_limit) {
  const auto links = open_all(2);
  ASSERT_EQ(links.size(), 2u);
  checking_sink sender_sink(*links[0], contract_seed, 64), sink(*links[1], contract_seed, 64);
  send_to_all(*links[0], sender_sink, 100, 64);
  std::uint64_t sum = 0;
  for (std::size_t limit = 0; sink.messages() < 100; limit = (limit + 1) % 8) {
    links[0]->receive(sender_sink, 1);
    const std::size_t count = links[1]->receive(sink, limit);
    ASSERT_LE(count, limit);
    sum += count;
    ASSERT_EQ(sink.messages(), sum) << "it returns how many";
  }
  EXPECT_EQ(links[1]->receive(sink, 1000), 0u);
  sink.expect_right();
}

TEST_P(transport_contract, two_jobs_know_nothing_of_each_other) {
  const std::uint32_t size = std::min(3u, GetParam().most_members);
  auto one = open_all(size), other = open_all(size);
  ASSERT_EQ(one.size() + other.size(), 2 * size);
  std::jthread second([&] { run_links(other, [](transport& link) { all_to_all(link, 5'000 / test_slowness, 64); }); });
  run_links(one, [](transport& link) { all_to_all(link, 3'000 / test_slowness, 64); });
}

}  // namespace trimtab::parcels
