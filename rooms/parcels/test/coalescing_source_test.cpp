// Settings of coalescing as knobs: what is offered, what is measured, and what turning one does.
#include "steering/coalescing_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "memory_transport.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/knob_registry.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {
namespace {

class no_sink final : public parcel_sink {
 public:
  void on_parcel(locality_number, const parcel_header&, bytes_view) noexcept override {}
  void on_gone(locality_number, std::string_view) noexcept override {}
};

void receive_no_parcel(const arrival&) {}
constexpr parcel_kind program_kind{.signature = 21, .receive = receive_no_parcel, .label = "update"};
constexpr parcel_kind apart_kind{.signature = 22, .receive = receive_no_parcel, .label = "apart"};
action& program_action() { return action_registry::of_process().find_or_add(program_kind, nullptr); }
action& apart_action() { return action_registry::of_process().find_or_add(apart_kind, nullptr); }

// Two localities in one process. The tests send from locality 0.
class knobs_of_coalescing : public ::testing::Test {
 protected:
  knobs_of_coalescing() {
    for (memory_job::member_state& member : m_job->members) member.state = memory_job::presence::member;
  }

  std::unique_ptr<exchange> open(locality_number number, const coalescing& standard = {}) {
    return std::make_unique<exchange>(std::make_unique<memory_transport>(m_job, number), m_sink,
                                      tasks::runtime::ns_per_tick(), standard, 1 << 20);
  }
  void begin(const coalescing& standard = {}) {
    m_own = open(0, standard);
    m_other = open(1, standard);
    m_own->start();
    m_other->start();
    m_source = std::make_unique<coalescing_source>(*m_own, standard, tasks::runtime::ns_per_tick(), m_registry, "key/");
  }
  // Bursts of so many parcels, between which the sender looks for messages.
  void send(const action& what, std::uint32_t bursts, std::uint32_t parcels) {
    const std::uint64_t argument = 1;
    for (std::uint32_t burst = 0; burst < bursts; ++burst) {
      for (std::uint32_t i = 0; i < parcels; ++i) m_own->send(1, {what, false, 0, std::as_bytes(std::span(&argument, 1))});
      do m_own->advance();
      while (m_own->to(1).has_parcels() || !m_own->to(1).is_all_handled());
    }
  }
  steer::snapshot look(double time_s) {
    steer::snapshot now;
    now.time_s = time_s;
    m_source->add_to(now);
    return now;
  }

  std::shared_ptr<memory_job> m_job = std::make_shared<memory_job>(2);
  no_sink m_sink;
  std::unique_ptr<exchange> m_own, m_other;
  steer::board m_board;
  std::vector<steer::knob_offer> m_offers;
  steer::knob_registry m_registry{m_board, [this](const steer::knob_offer& offered) { m_offers.push_back(offered); }};
  std::unique_ptr<coalescing_source> m_source;
};

// Parcels of a burst come within a microsecond each.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool are_parcels_slow = true;
#else
constexpr bool are_parcels_slow = false;
#endif

// So short that what the test sends is a large share of it.
constexpr double period_s = 1e-5;

TEST_F(knobs_of_coalescing, are_offered_for_traffic_that_costs_something) {
  begin();
  EXPECT_TRUE(look(0).subjects.empty());
  send(program_action(), 50, 1);
  EXPECT_TRUE(look(1 * period_s).subjects.empty()) << "too few parcels to say anything";
  send(program_action(), 200, 1);
  EXPECT_TRUE(look(1e6).subjects.empty()) << "next to no share of the time";
  EXPECT_TRUE(m_source->is_at_rest(0));
  send(program_action(), 200, 1);
  const steer::snapshot now = look(1e6 + 0.001);
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_FALSE(m_source->is_at_rest(0));
  ASSERT_EQ(now.appeared.size(), 1u);
  EXPECT_EQ(now.appeared[0].name, "messages, 1 parcel at a time");
  EXPECT_EQ(m_offers.at(0).key, "key/messages, 1 parcel at a time");
  std::vector<std::string> names;
  for (const steer::knob& one : now.appeared[0].knobs) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"batch", "under-way", "most-bytes"}));
  // The first measurement says what 200 parcels took.
  ASSERT_EQ(now.subjects[0].measured.size(), 1u);
  EXPECT_NEAR(now.subjects[0].measured[0].value, 0.001 / 200, 1e-9);
}

TEST_F(knobs_of_coalescing, differ_by_how_many_parcels_are_sent_at_a_time) {
  if (are_parcels_slow) GTEST_SKIP() << "a sanitizer makes parcels too slow for bursts";
  begin();
  look(0);
  double time_s = 0;
  std::set<std::string> names;
  for (std::uint32_t kind = 0; kind < 3; ++kind) {
    // A sender that loses its CPU in the middle seems to send less at a time; that is not always so.
    for (int i = 0; i < 2000 && !names.contains(name_of_traffic(kind)); ++i) {
      send(program_action(), 80, 2 * least_bursts[kind] - (kind == 0));
      look(time_s += period_s);
      for (const steer::knob_offer& offered : m_offers) names.insert(offered.info.name);
    }
    EXPECT_TRUE(names.contains(name_of_traffic(kind))) << kind;
  }
  EXPECT_EQ(names.size(), m_offers.size()) << "each kind once";
}

TEST(kinds_of_traffic, are_named_by_their_bounds) {
  EXPECT_EQ(name_of_traffic(0), "messages, 1 parcel at a time");
  EXPECT_EQ(name_of_traffic(1), "messages, 2 to 63 parcels at a time");
  EXPECT_EQ(name_of_traffic(3), "messages, 2048 and more parcels at a time");
  for (std::uint32_t kind = 0; kind < traffic_kinds; ++kind) {
    EXPECT_EQ(traffic_kind_of(least_bursts[kind]), kind);
    if (kind != 0) {
      EXPECT_EQ(traffic_kind_of(least_bursts[kind] - 1), kind - 1);
    }
  }
  EXPECT_EQ(traffic_kind_of(~0u), traffic_kinds - 1);
}

TEST_F(knobs_of_coalescing, turn_settings_of_their_kind_of_traffic_only) {
  if (are_parcels_slow) GTEST_SKIP() << "a sanitizer makes parcels too slow for bursts";
  begin();
  look(0);
  double time_s = 0;
  const auto look_until = [&](auto is_so) {
    steer::snapshot now;
    for (int i = 0; i < 1000 && !is_so(now); ++i) {
      send(program_action(), 40, 16);
      now = look(time_s += period_s);
    }
    return now;
  };
  const std::string name = "messages, 2 to 63 parcels at a time";
  look_until([&](const auto&) { return !m_offers.empty() && m_offers.back().info.name == name; });
  ASSERT_FALSE(m_offers.empty());
  const steer::knob_offer offered = m_offers.back();
  ASSERT_EQ(offered.info.name, name);
  ASSERT_TRUE(offered.apply(0, 8));
  ASSERT_TRUE(offered.apply(1, 4));
  ASSERT_TRUE(offered.apply(2, 1024));
  offered.confirm(7);
  const coalescing learned{.batch = 8, .most_under_way = 4, .most_bytes = 1024};
  const steer::snapshot now = look_until([](const steer::snapshot& told) { return !told.subjects.empty(); });
  ASSERT_FALSE(now.subjects.empty());
  EXPECT_EQ(now.subjects[0].measured.at(0).under, 7u);
  EXPECT_EQ(m_own->to(1).standard(), learned);
  // Another kind of traffic is as before, and this one comes back as it was learned.
  const auto comes = [&](std::uint32_t parcels, const coalescing& expected) {
    for (int i = 0; i < 1000 && m_own->to(1).standard() != expected; ++i) {
      send(program_action(), 80, parcels);
      look(time_s += period_s);
    }
    return m_own->to(1).standard() == expected;
  };
  EXPECT_TRUE(comes(1, coalescing{}));
  EXPECT_TRUE(comes(16, learned));
  // A mixture is of no kind.
  send(program_action(), 160, 1);
  send(program_action(), 10, 16);
  look(time_s += period_s);
  EXPECT_EQ(m_own->to(1).standard(), coalescing{});
}

TEST_F(knobs_of_coalescing, are_given_up_when_the_program_sets_what_they_turn) {
  if (are_parcels_slow) GTEST_SKIP() << "a sanitizer makes parcels too slow for bursts";
  begin();
  look(0);
  double time_s = 0;
  for (int i = 0; i < 1000 && m_offers.empty(); ++i) {
    send(program_action(), 40, 16);
    look(time_s += period_s);
  }
  ASSERT_FALSE(m_offers.empty());
  const steer::knob_offer offered = m_offers.back();
  ASSERT_TRUE(offered.apply(1, 16));
  m_source->leave_to_program();
  const coalescing own{.rules = coalescing::way::strict, .count = 7, .wait_us = 50, .sends_before_waiting = true};
  m_own->set_standard(own);
  EXPECT_FALSE(offered.apply(1, 8));
  for (int i = 0; i < 20; ++i) {
    send(program_action(), 40, 16);
    const steer::snapshot now = look(time_s += period_s);
    EXPECT_TRUE(now.subjects.empty());
    EXPECT_EQ(now.gone.size(), i == 0 ? m_offers.size() : 0);
    EXPECT_EQ(m_own->to(1).standard(), own);
  }
}

TEST_F(knobs_of_coalescing, are_count_and_wait_where_these_are_set) {
  const coalescing strict{.rules = coalescing::way::strict, .count = 10, .wait_us = 70, .sends_before_waiting = true};
  begin(strict);
  apart_action().set(strict, true);
  look(0);
  for (int i = 1; i <= 2; ++i) {
    send(apart_action(), 40, 16);
    look(i * period_s);
  }
  const auto position =
      std::ranges::find_if(m_offers, [](const steer::knob_offer& one) { return one.info.name == "messages of apart"; });
  ASSERT_NE(position, m_offers.end());
  const steer::knob_offer& offered = *position;
  ASSERT_EQ(offered.info.knobs.size(), 2u);
  EXPECT_EQ(offered.info.knobs[0].name, "count");
  EXPECT_EQ(offered.info.knobs[0].initial, 10) << "the program's own value is among those that may be set";
  EXPECT_TRUE(offered.info.knobs[0].values.contains(10) && offered.info.knobs[0].values.contains(4096));
  EXPECT_TRUE(offered.info.knobs[1].values.contains(70));
  ASSERT_TRUE(offered.apply(0, 256));
  ASSERT_TRUE(offered.apply(1, 2000));
  EXPECT_EQ(apart_action().settings().count, 256u);
  EXPECT_EQ(apart_action().settings().wait_us, 2000u);
  EXPECT_TRUE(apart_action().settings().sends_before_waiting);
  apart_action().set({}, false);
}

}  // namespace
}  // namespace trimtab::parcels
