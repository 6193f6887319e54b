#include <array>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "faulty_transport.hpp"
#include "memory_transport.hpp"
#include "servers/bounded_queue.hpp"
#include "servers_helpers.hpp"
#include "transport_helpers.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t servers_seed = 8128;

// A job within this process; locality 0 has servers.
struct served_job {
  served_job(std::uint32_t size, const server_settings& settings, transport_kind kind = memory_kind()) {
    const auto meeting = kind.new_meeting(size);
    std::vector<std::unique_ptr<transport>> opened(size);
    std::vector<std::jthread> threads;
    for (locality_number number = 0; number < size; ++number)
      threads.emplace_back([&, number] { opened[number] = meeting->open({number, size, "secret"}).link; });
    threads.clear();
    sender = std::make_unique<served_transport>(std::move(opened[0]), settings);
    for (locality_number number = 1; number < size; ++number) receivers.push_back(std::move(opened[number]));
  }

  std::unique_ptr<served_transport> sender;
  std::vector<std::unique_ptr<transport>> receivers;  // receivers[n] is locality n + 1
};

// Sends the messages of the pattern from `first` on, in order, with repetitions while there is no room.
void send_pattern(transport& link, locality_number to, std::size_t largest, std::uint64_t first, std::uint64_t end) {
  const message_pattern pattern(servers_seed, link.number(), to, largest);
  std::vector<std::byte> room;
  const test_deadline deadline;
  for (std::uint64_t index = first; index < end && !deadline.is_over();)
    if (link.try_send(to, pattern.fill(index, room)) == send_status::sent)
      ++index;
    else
      std::this_thread::yield();
  EXPECT_FALSE(deadline.is_over());
}

void receive_pattern(transport& link, std::size_t largest, std::uint64_t count) {
  checking_sink sink(link, servers_seed, largest);
  receive_until(link, sink, [&] { return sink.messages() >= count; });
  EXPECT_EQ(sink.messages(), count);
  EXPECT_EQ(link.receive(sink, 10), 0u);
  sink.expect_right();
}

bool sleep_all(const served_transport& link) {
  const test_deadline deadline;
  while (!link.are_all_asleep() && !deadline.is_over()) std::this_thread::yield();
  return link.are_all_asleep();
}

}  // namespace

TEST(served_transport, wrong_settings_are_errors_that_say_what_is_allowed) {
  server_settings settings;
  EXPECT_EQ(problem_of(settings), "");
  settings.consecutive = 11;
  EXPECT_EQ(problem_of(settings), "consecutive must be 1 to 10, found 11");
  settings.consecutive = 4;
  settings.selection = {{64, 1, 1}, {5000, 1, 1}};
  EXPECT_EQ(problem_of(settings), "selection: largest_bytes must be a power of two, found 5000");
  settings.selection = {{4096, 1, 1}, {64, 1, 1}};
  EXPECT_EQ(problem_of(settings), "selection: largest_bytes must be 4097 to 65536, found 64");
  settings.selection = {{4096, 1, 0}};
  EXPECT_EQ(problem_of(settings), "selection: least_messages must be 1 to 1048576, found 0");
  served_job job(2, {});
  EXPECT_THROW(job.sender->set(settings), std::invalid_argument);
  EXPECT_EQ(job.sender->settings(), server_settings{}) << "nothing has changed";
}

TEST(served_transport, its_queue_keeps_everything_once_and_in_the_order_of_each_thread) {
  bounded_queue queue(8);
  constexpr std::uint32_t producers = 3, count = 20'000;
  std::vector<std::jthread> threads;
  for (std::uint32_t producer = 0; producer < producers; ++producer)
    threads.emplace_back([&, producer] {
      for (std::uint32_t index = 0; index < count; ++index)
        while (!queue.push(producer << 24 | index)) std::this_thread::yield();
    });
  std::array<std::uint32_t, producers> next{};
  const test_deadline deadline;
  for (std::uint32_t taken = 0, value = 0; taken < producers * count && !deadline.is_over();) {
    if (!queue.take(value)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(value & 0xffffff, next.at(value >> 24)++);
    ++taken;
  }
  EXPECT_FALSE(queue.has_one());
  threads.clear();
  for (std::uint32_t value = 0; value < 8; ++value) EXPECT_TRUE(queue.push(value));
  EXPECT_FALSE(queue.push(8)) << "it is full";
  EXPECT_TRUE(queue.has_one());
}

TEST(served_transport, order_is_kept_with_sizes_for_servers_and_for_clients) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    faults plan;
    plan.seed = seed;
    plan.refusals_percent = 30;
    served_job job(2, all_through_servers(2, 256), with_faults(memory_kind(), plan));
    std::jthread sending([&] { send_pattern(*job.sender, 1, 2000, 0, 5'000 / test_slowness); });
    receive_pattern(*job.receivers[0], 2000, 5'000 / test_slowness);
    sending.join();
    const injection_counts counts = job.sender->counts();
    EXPECT_GT(counts.served, 0u);
    EXPECT_GT(counts.sent_directly, 0u);
    EXPECT_EQ(counts.served + counts.sent_directly, 5'000 / test_slowness);
    std::uint64_t refusals = 0;
    for (const server_counts& server : counts.servers) refusals += server.refusals;
    EXPECT_GT(refusals, 0u);
  }
}

TEST(served_transport, flow_control_bounds_what_waits_for_one_locality_and_no_other) {
  server_settings settings = all_through_servers(1);
  settings.most_under_way = 10;
  served_job job(3, settings);
  const std::vector<std::byte> message(4096);
  // Nobody receives, so in the end the transport is full, and then the server.
  std::uint64_t sent = 0;
  const std::uint64_t room = memory_transport::queue_bytes / message.size() + settings.most_under_way;
  const test_deadline deadline;
  while (sent < room && !deadline.is_over()) sent += job.sender->try_send(1, bytes_view(message)) == send_status::sent;
  ASSERT_EQ(sent, room);
  for (int again = 0; again < 1000; ++again) ASSERT_EQ(job.sender->try_send(1, bytes_view(message)), send_status::no_room);
  EXPECT_GE(job.sender->counts().held_for_flow, 1000u);
  EXPECT_FALSE(job.sender->drain(1'000'000));
  send_pattern(*job.sender, 2, 500, 0, 1000);
  receive_pattern(*job.receivers[1], 500, 1000);
}

TEST(served_transport, single_messages_are_sent_by_the_client) {
  server_settings settings = all_through_servers(1);
  settings.selection.front().least_messages = 4;
  settings.longest_pause_in_row_ns = 0;  // no two messages are in a row
  served_job job(2, settings);
  send_pattern(*job.sender, 1, 64, 0, 10);
  EXPECT_EQ(job.sender->counts().sent_directly, 10u);
  settings.longest_pause_in_row_ns = server_settings::longest_pause_ns;
  job.sender->set(settings);
  send_pattern(*job.sender, 1, 64, 10, 30);
  // The last of those ten began a row, even if the clock has not moved in between.
  EXPECT_EQ(job.sender->counts().served, 18u);
  // The first of a row is sent as the row before was long, the next one as that was.
  settings.longest_pause_in_row_ns = 0;
  job.sender->set(settings);
  ASSERT_TRUE(job.sender->drain(long_enough_ns));
  send_pattern(*job.sender, 1, 64, 30, 31);
  EXPECT_EQ(job.sender->counts().served, 19u);
  ASSERT_TRUE(job.sender->drain(long_enough_ns));
  send_pattern(*job.sender, 1, 64, 31, 32);
  EXPECT_EQ(job.sender->counts().served, 19u);
  receive_pattern(*job.receivers[0], 64, 32);
}

TEST(served_transport, sizes_are_served_as_the_selection_says) {
  server_settings settings = all_through_servers(3);
  settings.selection = {{64, 0, 1}, {1024, 2, 1}, {4096, 3, 1000}};
  served_job job(2, settings);
  const auto served_of = [&](std::size_t bytes) {
    const std::uint64_t before = job.sender->counts().served;
    const std::vector<std::byte> message(bytes);
    EXPECT_EQ(job.sender->try_send(1, bytes_view(message)), send_status::sent);
    EXPECT_TRUE(job.sender->drain(long_enough_ns));
    return job.sender->counts().served - before;
  };
  for (const std::size_t bytes : {1, 64, 1025, 4096, 4097, 65537}) EXPECT_EQ(served_of(bytes), 0u) << bytes;
  for (const std::size_t bytes : {65, 1024}) EXPECT_EQ(served_of(bytes), 1u) << bytes;
}

TEST(served_transport, without_order_a_client_sends_beside_its_server) {
  server_settings settings = all_through_servers(2, 64);
  settings.keeps_order = false;
  settings.most_under_way = 2;
  served_job job(2, settings, with_faults(memory_kind(), {}));
  constexpr std::uint64_t count = 5000;
  std::jthread sending([&] {
    for (std::uint64_t index = 0; index < count;) {
      std::byte bytes[100] = {};
      std::memcpy(bytes, &index, sizeof index);
      index += job.sender->try_send(1, bytes_view(bytes).first(index % 3 == 0 ? 100 : 8)) == send_status::sent;
    }
  });
  struct : message_sink {
    std::vector<bool> has_come = std::vector<bool>(count);
    std::uint64_t messages = 0, wrong = 0;
    void on_message(locality_number, bytes_view bytes) noexcept override {
      std::uint64_t index = 0;
      std::memcpy(&index, bytes.data(), sizeof index);
      wrong += index >= count || has_come[index] || bytes.size() != (index % 3 == 0 ? 100u : 8u);
      if (index < count) has_come[index] = true;
      ++messages;
    }
    void on_left(locality_number) noexcept override {}
    void on_lost(locality_number, std::string_view) noexcept override {}
  } sink;
  EXPECT_TRUE(receive_until(*job.receivers[0], sink, [&] { return sink.messages >= count; }));
  EXPECT_EQ(sink.wrong, 0u);
}

TEST(served_transport, servers_sleep_while_there_is_nothing_to_send) {
  served_job job(2, all_through_servers(2));
  ASSERT_TRUE(sleep_all(*job.sender));
  send_pattern(*job.sender, 1, 64, 0, 100);
  EXPECT_TRUE(job.sender->drain(long_enough_ns));
  ASSERT_TRUE(sleep_all(*job.sender));
  const injection_counts before = job.sender->counts();
  EXPECT_EQ(before.served, 100u);
  EXPECT_GE(before.servers[0].sleeps, 1u);
  EXPECT_LT(before.servers[0].busy_share(), 1);
  receive_pattern(*job.receivers[0], 64, 100);
  EXPECT_EQ(job.sender->counts().servers[0].busy_ticks, before.servers[0].busy_ticks);
}

TEST(served_transport, nothing_is_lost_doubled_or_reordered_while_servers_come_and_go) {
  served_job job(4, all_through_servers(2, 128), with_faults(memory_kind(), {}));
  const std::uint64_t count = 70'000 / test_slowness;  // to each of the three
  struct {
    std::mutex lock;
    std::uint64_t next = 0;
  } targets[3];
  std::atomic<bool> is_done{false};
  const auto send = [&](std::uint64_t seed) {
    test_random random(servers_seed + seed);
    std::vector<std::byte> room;
    std::uint64_t complete = 0;
    for (const test_deadline deadline; complete < 3 && !deadline.is_over();) {
      const auto place = random.below(3);
      const std::lock_guard guard(targets[place].lock);
      const message_pattern pattern(servers_seed, 0, static_cast<locality_number>(place + 1), 200);
      std::uint64_t& next = targets[place].next;
      const std::uint64_t end = std::min(count, next + random.below(50));
      while (next < end &&
             job.sender->try_send(static_cast<locality_number>(place + 1), pattern.fill(next, room)) == send_status::sent)
        ++next;
      complete = next == count ? complete + 1 : 0;  // three times in a row, of any: the end checks them all
    }
  };
  std::vector<std::jthread> threads;
  for (locality_number to = 1; to < 4; ++to)
    threads.emplace_back([&, to] { receive_pattern(*job.receivers[to - 1], 200, count); });
  threads.emplace_back([&] {
    test_random random(servers_seed);
    while (!is_done) {
      switch (random.below(4)) {
        case 0:
          job.sender->enable();
          break;
        case 1:
          job.sender->disable();
          break;
        case 2:
          job.sender->wind_up(1 + static_cast<std::uint32_t>(random.below(2)));
          break;
        default:
          job.sender->wind_down(1);
      }
      if (job.sender->settings().servers > 4) job.sender->set(all_through_servers(1 + random.below(2) % 2, 128));
      for (std::uint64_t spin = random.below(200); spin > 0; --spin) std::this_thread::yield();
    }
  });
  std::vector<std::jthread> senders;
  for (std::uint64_t sender = 0; sender < 4; ++sender) senders.emplace_back(send, sender);
  senders.clear();
  is_done = true;
  for (locality_number to = 1; to < 4; ++to) send_pattern(*job.sender, to, 200, targets[to - 1].next, count);
  threads.clear();
  const injection_counts counts = job.sender->counts();
  EXPECT_EQ(counts.served + counts.sent_directly, 3 * count);
  EXPECT_GT(counts.served, 0u);
  EXPECT_GT(counts.sent_directly, 0u);
}

TEST(served_transport, leave_waits_for_full_queues_and_drops_what_nobody_can_receive) {
  served_job job(3, all_through_servers(1));
  const std::vector<std::byte> message(4096);
  // As much as the transport takes, and as much as flow control leaves to the server.
  const std::uint64_t full = memory_transport::queue_bytes / message.size() + job.sender->settings().most_under_way;
  const test_deadline deadline;
  for (locality_number to = 1; to < 3; ++to)
    for (std::uint64_t sent = 0; sent < full && !deadline.is_over();)
      sent += job.sender->try_send(to, bytes_view(message)) == send_status::sent;
  EXPECT_FALSE(job.sender->leave(1'000'000));
  job.receivers[1].reset();  // locality 2 is lost: what it was to get is dropped
  std::jthread leaving([&] { EXPECT_TRUE(job.sender->leave(long_enough_ns)); });
  struct : message_sink {
    std::uint64_t messages = 0, left = 0;
    void on_message(locality_number, bytes_view) noexcept override { ++messages; }
    void on_left(locality_number from) noexcept override { left += from == 0; }
    void on_lost(locality_number, std::string_view) noexcept override {}
  } sink;
  EXPECT_TRUE(receive_until(*job.receivers[0], sink, [&] { return sink.left == 1; }));
  leaving.join();
  const injection_counts counts = job.sender->counts();
  EXPECT_EQ(sink.messages, full);
  EXPECT_EQ(counts.servers[0].dropped, job.sender->settings().most_under_way);
  EXPECT_EQ(counts.served, counts.servers[0].messages + counts.servers[0].dropped);
}

TEST(server_place, servers_use_cpus_without_workers_and_the_domains_in_turn) {
  base::cpu_mask allowed, workers;
  allowed.bits[0] = 0b1111'1110;
  workers.bits[0] = 0b0001'0010;
  const std::uint32_t domains[] = {0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<server_place> expected = {{2, 0}, {5, 1}, {3, 0}, {6, 1}, {7, 1}};
  EXPECT_EQ(places_for_servers(allowed, workers, domains), expected);
  EXPECT_TRUE(places_for_servers(allowed, allowed, domains).empty());
  EXPECT_TRUE(places_beside_workers(base::cpu_mask::most).empty()) << "more workers than CPUs";
}

}  // namespace trimtab::parcels
