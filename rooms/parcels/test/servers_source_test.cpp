// Communication servers as knobs: what is offered, what is measured, and what turning one does in the middle of traffic.
#include "steering/servers_source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "local_job.hpp"
#include "memory_transport.hpp"
#include "transport_helpers.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/knob_registry.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {
namespace {

void receive_no_number(const arrival&) {}
constexpr parcel_kind number_kind{.signature = 31, .receive = receive_no_number, .label = "number"};
action& number_action() { return action_registry::of_process().find_or_add(number_kind, nullptr); }

class ignoring_sink final : public parcel_sink {
 public:
  void on_parcel(locality_number, const parcel_header&, bytes_view) noexcept override {}
  void on_gone(locality_number, std::string_view) noexcept override {}
};

// Two localities in one process. Locality 0 sends, with communication servers.
class knobs_of_servers : public ::testing::Test {
 protected:
  knobs_of_servers() {
    for (memory_job::member_state& member : m_memory->members) member.state = memory_job::presence::member;
  }
  ~knobs_of_servers() override {
    m_source.reset();
    m_own.reset();
    m_other.reset();
  }
  void begin(const server_settings& settings, std::vector<server_place> places = {}) {
    auto link =
        std::make_unique<served_transport>(std::make_unique<memory_transport>(m_memory, 0), settings, std::move(places));
    m_servers = link.get();
    m_own = open(std::move(link));
    m_other = open(std::make_unique<memory_transport>(m_memory, 1));
    m_own->start();
    m_other->start();
    m_source = std::make_unique<servers_source>(*m_servers, *m_own, tasks::runtime::ns_per_tick(), m_registry, "key/");
  }
  void send(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t number = first; number < first + count; ++number)
      m_own->send(1, {number_action(), false, 0, std::as_bytes(std::span(&number, 1))});
    do m_own->advance();
    while (m_own->to(1).has_parcels() || !m_own->to(1).is_all_handled());
  }
  steer::snapshot look(double time_s) {
    steer::snapshot now;
    now.time_s = time_s;
    m_source->add_to(now);
    return now;
  }
  // Until there are knobs: the time is so short that what was sent is a large share of it.
  const steer::knob_offer& offered() {
    look(0);
    send(0, 200);
    look(1e-5);
    EXPECT_EQ(m_offers.size(), 1u);
    return m_offers.at(0);
  }

  std::shared_ptr<memory_job> m_memory = std::make_shared<memory_job>(2);
  ignoring_sink m_sink;
  served_transport* m_servers = nullptr;
  std::unique_ptr<exchange> m_own, m_other;
  steer::board m_board;
  std::vector<steer::knob_offer> m_offers;
  steer::knob_registry m_registry{m_board, [this](const steer::knob_offer& one) { m_offers.push_back(one); }};
  std::unique_ptr<servers_source> m_source;

 private:
  std::unique_ptr<exchange> open(std::unique_ptr<transport> link) {
    return std::make_unique<exchange>(std::move(link), m_sink, tasks::runtime::ns_per_tick(), coalescing{}, 1 << 20);
  }
};

TEST_F(knobs_of_servers, are_offered_for_traffic_that_costs_something) {
  begin(all_served(2), {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}});
  EXPECT_TRUE(look(0).subjects.empty());
  EXPECT_TRUE(m_source->is_at_rest(0));
  send(0, 200);
  EXPECT_TRUE(look(1e6).subjects.empty()) << "next to no share of the time";
  send(0, 200);
  const steer::snapshot now = look(1e6 + 1e-5);
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_FALSE(m_source->is_at_rest(0));
  EXPECT_NEAR(now.subjects[0].measured.at(0).value, 1e-5 / 200, 1e-11);
  const steer::subject_info& info = m_offers.at(0).info;
  EXPECT_EQ(info.name, "communication servers");
  EXPECT_EQ(m_offers[0].key, "key/communication servers");
  EXPECT_EQ(info.group, traffic_group) << "what is measured changes with the knobs of coalescing";
  ASSERT_EQ(info.knobs.size(), 3u);
  const auto values = [&](std::size_t knob) {
    std::vector<steer::knob_value> all;
    for (std::size_t i = 0; i < info.knobs[knob].values.size(); ++i) all.push_back(info.knobs[knob].values.at(i));
    return all;
  };
  EXPECT_EQ(values(0), (std::vector<steer::knob_value>{0, 1, 2, 4, 5})) << "at most one for each CPU without a worker";
  EXPECT_EQ(values(1), (std::vector<steer::knob_value>{1, 2, 4, 7, 10}));
  EXPECT_EQ(values(2), (std::vector<steer::knob_value>{16, 32, 64, 128, 256}));
  EXPECT_EQ(info.knobs[0].initial, 2);
  EXPECT_EQ(info.knobs[1].initial, 4);
  EXPECT_EQ(info.knobs[2].initial, 128);
}

TEST_F(knobs_of_servers, are_no_more_than_asked_for_without_free_cpus) {
  begin(all_served(3));
  const steer::domain& numbers = offered().info.knobs[0].values;
  EXPECT_EQ(numbers.at(numbers.size() - 1), 3);
}

TEST_F(knobs_of_servers, turn_the_settings_and_are_measured_under_the_decision) {
  begin(all_served(2));
  const steer::knob_offer& knobs = offered();
  ASSERT_TRUE(knobs.apply(0, 1));
  ASSERT_TRUE(knobs.apply(1, 7));
  ASSERT_TRUE(knobs.apply(2, 16));
  knobs.confirm(5);
  server_settings expected = all_served(1);
  expected.consecutive = 7;
  expected.most_under_way = 16;
  EXPECT_EQ(m_servers->settings(), expected);
  EXPECT_EQ(m_servers->active_servers(), 1u);
  send(0, 200);
  EXPECT_EQ(look(2e-5).subjects.at(0).measured.at(0).under, 5u);
  ASSERT_TRUE(knobs.apply(0, 0));
  EXPECT_EQ(m_servers->active_servers(), 0u);
}

TEST_F(knobs_of_servers, are_given_up_when_the_program_changes_the_servers) {
  begin(all_served(2));
  const steer::knob_offer knobs = offered();
  m_servers->wind_up(1);
  const server_settings own = m_servers->settings();
  EXPECT_FALSE(knobs.apply(0, 1)) << "before the source has looked";
  EXPECT_EQ(m_servers->settings(), own);
  send(0, 200);
  const steer::snapshot now = look(2e-5);
  EXPECT_TRUE(now.subjects.empty());
  EXPECT_EQ(now.gone.size(), 1u);
  EXPECT_FALSE(knobs.apply(1, 1));
  EXPECT_TRUE(look(3e-5).gone.empty());
}

// Locality 1 notes what comes; the receive loop calls posted functions' tasks in any order, so a sum is compared.
std::atomic<std::uint64_t> sum_of_numbers{0}, count_of_numbers{0};
void add_one_number(std::uint64_t number) {
  sum_of_numbers += number;
  count_of_numbers += 1;
}

TEST(turned_servers, lose_no_parcel_of_a_job_while_they_are_tuned) {
  constexpr std::uint64_t bursts = 300 / test_slowness, parcels = 100;
  sum_of_numbers = count_of_numbers = 0;
  job_options options;
  options.standard = {.rules = coalescing::way::strict, .count = 2, .wait_us = 20, .sends_before_waiting = true};
  options.tunes_coalescing = true;
  run_locally({.size = 2, .options = options, .servers = all_served(2)}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0)
      for (std::uint64_t burst = 0; burst < bursts; ++burst) {
        for (std::uint64_t i = 0; i < parcels; ++i) post(own.at(1), add_one_number, burst * parcels + i);
        own.home().run([] { tasks::this_task::yield(); });
      }
    own.wait_until_quiet();
  });
  constexpr std::uint64_t all = bursts * parcels;
  EXPECT_EQ(count_of_numbers, all);
  EXPECT_EQ(sum_of_numbers, all * (all - 1) / 2);
}

// What is turned at random while messages travel: each receiver checks order, number and content.
TEST(turned_servers, keep_the_order_of_messages_whatever_is_turned) {
  const auto memory = std::make_shared<memory_job>(2);
  for (memory_job::member_state& member : memory->members) member.state = memory_job::presence::member;
  served_transport sender(std::make_unique<memory_transport>(memory, 0), all_served(2));
  memory_transport receiver(memory, 1);
  constexpr std::uint64_t seed = 4711, largest = 200;
  const std::uint64_t count = 40'000 / test_slowness;
  std::atomic<bool> is_done{false};
  std::jthread turning([&] {
    test_random random(seed);
    for (server_settings now = sender.settings(); !is_done;) {
      server_settings next = now;
      next.servers = static_cast<std::uint32_t>(random.below(4));
      next.consecutive = 1 + static_cast<std::uint32_t>(random.below(10));
      next.most_under_way = 1 + static_cast<std::uint32_t>(random.below(256));
      now = sender.replace(now, next).value();
      std::this_thread::yield();
    }
  });
  std::jthread sending([&] {
    const message_pattern pattern(seed, 0, 1, largest);
    std::vector<std::byte> room;
    const test_deadline deadline;
    for (std::uint64_t index = 0; index < count && !deadline.is_over();)
      if (sender.try_send(1, pattern.fill(index, room)) == send_status::sent)
        ++index;
      else
        std::this_thread::yield();
  });
  checking_sink sink(receiver, seed, largest);
  receive_until(receiver, sink, [&] { return sink.messages() >= count; });
  is_done = true;
  EXPECT_EQ(sink.messages(), count);
  sink.expect_right();
}

}  // namespace
}  // namespace trimtab::parcels
