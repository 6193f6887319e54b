// Parcels through exchanges, without calls: none is lost or doubled, and those of one action keep their order, whatever the
// transport does. TRIMTAB_STRESS=1: ten million parcels in each case.
#include "trimtab/parcels/coalescing/exchange.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "faulty_transport.hpp"
#include "memory_transport.hpp"
#include "shm_meeting.hpp"
#include "tcp_meeting.hpp"
#include "transport_helpers.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint32_t streams = 3;  // of each locality: threads that send, each with an action of its own

void receive_nothing(const arrival&) {}
constexpr parcel_kind stream_kinds[streams] = {{.signature = 11, .receive = receive_nothing},
                                               {.signature = 12, .receive = receive_nothing},
                                               {.signature = 13, .receive = receive_nothing}};

action& stream_action(std::uint32_t stream) {
  return action_registry::of_process().find_or_add(stream_kinds[stream], nullptr);
}

struct stamp {
  std::uint32_t stream = 0, length = 0;
  std::uint64_t sequence = 0;
};

// Checks order and content.
class checking_sink final : public parcel_sink {
 public:
  explicit checking_sink(std::uint32_t size) : m_next(size) {
    for (auto& streams_of_one : m_next) streams_of_one.resize(streams);
  }

  void on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept override {
    if (header.action == definition_action) return;
    stamp arrived;
    if (content.size() < sizeof arrived) return fail("too short", from);
    std::memcpy(&arrived, content.data(), sizeof arrived);
    if (arrived.stream >= streams || content.size() != sizeof arrived + arrived.length) return fail("malformed", from);
    const auto mark = static_cast<std::byte>(arrived.sequence);
    for (const std::byte one : content.subspan(sizeof arrived))
      if (one != mark) return fail("damaged", from);
    if (arrived.sequence != m_next[from][arrived.stream]++) return fail("out of order", from);
    m_received.fetch_add(1, std::memory_order_relaxed);
  }
  void on_gone(locality_number, std::string_view) noexcept override {}

  std::uint64_t received() const { return m_received.load(); }
  const std::string& error() const { return m_error; }

 private:
  void fail(const char* what, locality_number from) {
    if (m_error.empty()) m_error = std::string("a parcel from ") + std::to_string(from) + " is " + what;
  }
  std::vector<std::vector<std::uint64_t>> m_next;
  std::atomic<std::uint64_t> m_received{0};
  std::string m_error;
};

struct exchange_case {
  std::string name;
  std::function<std::unique_ptr<meeting_point>()> new_meeting;
  std::uint64_t fault_seed = 0;
  coalescing shared, apart;  // apart: of the third stream
};

std::uint64_t parcels_per_stream() { return std::getenv("TRIMTAB_STRESS") != nullptr ? 10'000'000 / (streams * 2) : 3'000; }

std::size_t random_length(test_random& random) {
  const std::uint64_t kind = random.below(1000);
  if (kind < 980) return random.below(60);
  return kind < 998 ? random.below(6'000) : random.below(300'000);
}

void send_stream(exchange& traffic, std::uint32_t stream, std::uint64_t seed) {
  test_random random(seed);
  const action& what = stream_action(stream);
  std::vector<std::uint64_t> next(traffic.size());
  const std::uint64_t count = parcels_per_stream();
  for (std::uint64_t i = 0; i < count * (traffic.size() - 1); ++i) {
    const auto to = static_cast<locality_number>((traffic.number() + 1 + i % (traffic.size() - 1)) % traffic.size());
    stamp head{stream, static_cast<std::uint32_t>(random_length(random)), next[to]++};
    const auto bytes =
        std::make_shared<std::vector<std::byte>>(sizeof head + head.length, static_cast<std::byte>(head.sequence));
    std::memcpy(bytes->data(), &head, sizeof head);
    if (bytes->size() > traffic.longest_queued())
      traffic.send_long(to, {what}, {{*bytes}, bytes});
    else
      traffic.send(to, {what, false, 0, *bytes});
  }
}

void run_member(const exchange_case& setting, meeting_point& meeting, const membership& self,
                std::atomic<std::uint32_t>& ready) {
  opened_transport opened = meeting.open(self);
  ASSERT_NE(opened.link, nullptr) << opened.error;
  if (setting.fault_seed != 0)
    opened.link = std::make_unique<faulty_transport>(std::move(opened.link), faults{.seed = setting.fault_seed});
  checking_sink sink(self.size);
  exchange traffic(std::move(opened.link), sink, tasks::runtime::ns_per_tick(), setting.shared, std::size_t{1} << 20);
  traffic.start();
  std::vector<std::thread> senders;
  for (std::uint32_t stream = 0; stream < streams; ++stream)
    senders.emplace_back([&, stream] { send_stream(traffic, stream, 100 * self.number + stream); });
  for (std::thread& sender : senders) sender.join();
  traffic.flush_all();
  const std::uint64_t expected = parcels_per_stream() * streams * (self.size - 1);
  while (sink.received() < expected && sink.error().empty()) traffic.advance();
  EXPECT_EQ(sink.error(), "");
  EXPECT_EQ(sink.received(), expected);
  // Who leaves receives nothing any more, so all leave together.
  ready.fetch_add(1);
  while (ready.load() < self.size) traffic.advance();
  EXPECT_TRUE(traffic.leave(10'000'000'000));
}

class exchanges : public ::testing::TestWithParam<exchange_case> {};

TEST_P(exchanges, deliver_everything_once_and_in_order) {
  stream_action(2).set(GetParam().apart, true);
  const std::unique_ptr<meeting_point> meeting = GetParam().new_meeting();
  constexpr std::uint32_t size = 3;
  std::atomic<std::uint32_t> ready{0};
  std::vector<std::thread> members;
  for (locality_number number = 0; number < size; ++number)
    members.emplace_back([&, number] { run_member(GetParam(), *meeting, {number, size, "secret"}, ready); });
  for (std::thread& member : members) member.join();
  stream_action(2).set({}, false);
}

tcp_options few_bytes_at_once() {
  tcp_options options;
  options.write_limit = 777;
  return options;
}

std::vector<exchange_case> exchange_cases() {
  constexpr auto strict = coalescing::way::strict;
  const coalescing none{}, short_queues{.most_bytes = 100}, by_count{.rules = strict, .count = 50, .wait_us = 300};
  const auto memory = []() -> std::unique_ptr<meeting_point> { return std::make_unique<memory_meeting>(3); };
  const auto shm = []() -> std::unique_ptr<meeting_point> { return std::make_unique<shm_meeting>(std::size_t{16} << 10); };
  const auto tcp = []() -> std::unique_ptr<meeting_point> { return std::make_unique<tcp_meeting>(); };
  const auto slow_tcp = []() -> std::unique_ptr<meeting_point> {
    return std::make_unique<tcp_meeting>(few_bytes_at_once());
  };
  return {{"memory", memory, 0, none, none},
          {"memory_faulty", memory, 3, none, by_count},
          {"memory_faulty_by_count", memory, 4, by_count, none},
          {"shm_small_rings", shm, 0, none, by_count},
          {"shm_faulty", shm, 5, by_count, short_queues},
          {"tcp", tcp, 0, none, by_count},
          {"tcp_short_writes", slow_tcp, 0, none, by_count},
          {"tcp_short_writes_faulty", slow_tcp, 6, by_count, none}};
}

INSTANTIATE_TEST_SUITE_P(all, exchanges, ::testing::ValuesIn(exchange_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace trimtab::parcels
