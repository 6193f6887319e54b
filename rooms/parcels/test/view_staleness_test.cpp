// How fast views spread, without a network: in steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "trimtab/parcels/view/job_view.hpp"
#include "trimtab/parcels/view/view_spreader.hpp"

namespace trimtab::parcels {

namespace {

struct spreading_case {
  std::uint32_t localities = 8;
  std::uint32_t fan_out = 1;
  std::uint32_t rounds = 1;         // of spreading, in a reporting period
  bool answers = false;             // who gets a view sends its own back
  std::uint32_t messages = 0;       // of the program, from each locality in a period, to random ones
  std::uint32_t every_message = 4;  // takes the view along
};

class spreading_run {
 public:
  explicit spreading_run(const spreading_case& setting) : m_setting(setting) {
    for (locality_number self = 0; self < setting.localities; ++self) {
      m_views.emplace_back(view_shape{.localities = setting.localities, .self = self});
      m_spreaders.emplace_back(setting.localities, self,
                               spreading{.messages = setting.every_message, .fan_out = setting.fan_out, .seed = 100});
    }
  }

  // Localities act in random order in each round. The age of a value is taken just before the next report, its worst time:
  // a value that was made in this period is one period old.
  std::uint32_t percentile(double share, std::uint64_t periods) {
    for (std::uint64_t period = 0; period < periods; ++period) {
      for (job_view& view : m_views) view.set_own(std::array{static_cast<double>(period)});
      for (std::uint32_t round = 0; round < m_setting.rounds; ++round) spread();
      send_messages();
      for (job_view& view : m_views) view.pass_period();
      if (period >= 50) note_ages(period + 1);
    }
    std::sort(m_ages.begin(), m_ages.end());
    return m_ages[static_cast<std::size_t>(share * static_cast<double>(m_ages.size() - 1))];
  }

 private:
  locality_number draw() { return static_cast<locality_number>(m_random.below(m_setting.localities)); }
  void send(locality_number from, locality_number to) {
    byte_buffer bytes;
    m_views[from].note_sent(to, m_views[from].write(bytes, to));
    m_views[to].merge(bytes.view(), from);
  }
  void spread() {
    std::vector<locality_number> order;
    for (locality_number self = 0; self < m_setting.localities; ++self)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(m_random.below(self + 1)), self);
    for (const locality_number from : order)
      for (const locality_number to : m_spreaders[from].begin_round()) {
        send(from, to);
        if (m_setting.answers) send(to, from);
      }
  }
  void send_messages() {
    for (std::uint32_t i = 0; i < m_setting.messages * m_setting.localities; ++i) {
      const locality_number from = draw(), to = draw();
      if (m_spreaders[from].on_messages(to)) send(from, to);
    }
  }
  // By the owner's own steps, not by the age that the view has.
  void note_ages(std::uint64_t current_period) {
    for (const job_view& view : m_views)
      for (locality_number owner = 0; owner < view.size(); ++owner) {
        if (owner == view.self()) continue;
        const auto age = static_cast<std::uint32_t>(current_period - view.of(owner).made);
        EXPECT_EQ(age, view.of(owner).age);
        m_ages.push_back(age);
      }
  }

  const spreading_case m_setting;
  steer::random_source m_random{7};
  std::vector<job_view> m_views;
  std::vector<view_spreader> m_spreaders;
  std::vector<std::uint32_t> m_ages;
};

std::uint32_t p99(const spreading_case& setting) {
  return spreading_run(setting).percentile(0.99, setting.localities > 16 ? 200 : 2000);
}

}  // namespace

TEST(view_staleness, of_one_random_peer_is_above_two_periods) {
  EXPECT_GT(p99({}), 2u);
  EXPECT_GT(p99({.localities = 64}), p99({}));
}

TEST(view_staleness, is_at_most_two_periods_as_jobs_spread) {
  EXPECT_LE(p99({.fan_out = 1, .rounds = 2, .answers = true}), 2u);
}

// The table of the guide: run with --gtest_also_run_disabled_tests.
TEST(view_staleness, DISABLED_table) {
  for (const std::uint32_t localities : {8u, 64u})
    for (const std::uint32_t rounds : {1u, 2u, 3u, 4u})
      for (const std::uint32_t fan_out : {1u, 2u, 3u, 4u})
        for (const bool answers : {false, true})
          for (const std::uint32_t messages : {0u, 28u}) {
            const spreading_case setting{localities, fan_out, rounds, answers, messages, 4};
            std::printf("localities %u rounds %u fan-out %u answers %d messages %u: p50 %u p99 %u most %u\n", localities,
                        rounds, fan_out, answers, messages, spreading_run(setting).percentile(0.5, 300), p99(setting),
                        spreading_run(setting).percentile(1, 300));
          }
}

}  // namespace trimtab::parcels
