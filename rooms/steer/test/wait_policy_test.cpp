// The rule for how threads wait, told figures by the test.
#include "trimtab/steer/wait_policy.hpp"

#include "scenario.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr int of_a_trial = static_cast<int>(wait_policy_options{}.windows);
constexpr int until_long = static_cast<int>(wait_policy_options{}.long_windows);
constexpr double window_s = 0.05, long_wait_s = 5e-3, short_wait_s = 20e-6;

class waits : public ::testing::Test {
 protected:
  void start(knob_value own_value = 200) {
    m_steering.add(std::make_unique<wait_policy>());
    info.knobs = {{"blocktime", *domain::set({0, 1, 10, 200, own_value}), own_value, 0, consent::safe, 0, {}}};
    value = own_value;
  }
  // So many windows, of regions that take 10 ms while threads spin.
  void windows(int count, double share, double wait_s = long_wait_s) {
    for (int i = 0; i < count; ++i) {
      m_windows += 1;
      time_s += window_s;
      look(share, wait_s);
    }
  }
  void look(double share, double wait_s = long_wait_s) {
    snapshot now;
    now.time_s = time_s;
    if (m_windows == 1) now.appeared = {info};
    now.subjects = {{1,
                     {{m_under, 10e-3 * (value == 1 ? asleep : 1), window_s}},
                     {{std::string(figures::run_delay_share), share},
                      {std::string(figures::wait_seconds), wait_s},
                      {std::string(figures::windows), m_windows}}}};
    for (const decision& decision : m_steering.step(now)) {
      log.push_back(decision);
      m_under = decision.number;
      if (decision.what != outcome::kept) value = decision.changes.at(0).to;
    }
  }
  // Until there is enough of a budget for a trial.
  void windows_until_tried(double share = 0.3) {
    while (value != 1 && time_s < 1000) windows(1, share);
  }
  double until_back(double share, double wait_s = long_wait_s) {
    const double begin = time_s;
    while (value == 1 && time_s < begin + 1000) windows(1, share, wait_s);
    return time_s - begin;
  }
  std::vector<outcome> outcomes() const {
    std::vector<outcome> all;
    for (const decision& decision : log) all.push_back(decision.what);
    return all;
  }

  subject_info info{1, "waiting threads", {}};
  knob_value value = -1;
  double asleep = 0.9;  // of what regions take while threads spin, when they sleep
  std::vector<decision> log;

 private:
  engine m_steering;
  double m_windows = 0;
  decision_number m_under = 0;

 protected:
  double time_s = 0;
};

TEST_F(waits, threads_that_have_their_cpus_are_left_alone) {
  start();
  windows(100, 0.01);
  EXPECT_TRUE(log.empty());
}

TEST_F(waits, threads_that_wait_for_moments_only_are_left_alone) {
  start();
  windows(100, 0.5, short_wait_s);
  EXPECT_TRUE(log.empty());
}

TEST_F(waits, one_bad_window_is_chance_two_are_not) {
  start();
  windows(20, 0);
  windows(1, 0.5);
  windows(1, 0);
  windows(1, 0.5);
  EXPECT_TRUE(log.empty());
  // The same window again is none of its own.
  time_s += window_s;
  look(0.5);
  EXPECT_TRUE(log.empty());
  windows(1, 0.5);
  EXPECT_EQ(value, 1);
}

TEST_F(waits, short_regions_whose_threads_miss_each_other_for_a_while_are_left_alone) {
  start();
  for (int i = 0; i < 100; ++i) {
    windows(until_long - 1, 0.5);
    windows(1, 0.5, short_wait_s);
  }
  EXPECT_TRUE(log.empty());
  windows(until_long, 0.5);
  EXPECT_EQ(value, 1);
}

TEST_F(waits, it_is_kept_where_regions_take_less_time) {
  start();
  windows_until_tried();
  EXPECT_EQ(outcomes(), std::vector{outcome::trial});
  asleep = 0.85;
  windows(of_a_trial - 1, 0.3);
  EXPECT_EQ(log.size(), 1u);
  windows(1, 0.3);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::kept}));
  EXPECT_EQ(log.back().reason, "regions take 85 % of the time so");
  windows(100, 0.3);
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(waits, what_gains_nothing_is_undone_and_tried_ever_more_seldom) {
  start();
  asleep = 0.99;
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    const double begin = time_s;
    windows_until_tried();
    ASSERT_EQ(value, 1);
    EXPECT_GT(time_s - begin, 1.5 * before);
    before = time_s - begin;
    windows(of_a_trial, 0.3);
    ASSERT_EQ(log.back().what, outcome::undone);
    ASSERT_EQ(value, 200);
  }
}

TEST_F(waits, a_trial_that_the_budget_ends_is_one_that_failed) {
  start();
  windows_until_tried();
  const double begin = time_s;
  asleep = 50;
  windows(1, 0.3);
  ASSERT_EQ(log.back().what, outcome::undone);
  ASSERT_EQ(value, 200);
  windows_until_tried();
  EXPECT_GT(time_s - begin, wait_policy_options{}.pause_s);
}

TEST_F(waits, when_it_calms_down_the_programs_own_value_is_back) {
  start(150);
  windows_until_tried();
  windows(40, 0.03);
  EXPECT_EQ(value, 1) << "better, but not calm";
  EXPECT_NEAR(until_back(0), 2, 0.5);
  EXPECT_EQ(value, 150);
  EXPECT_EQ(log.back().what, outcome::set);
}

TEST_F(waits, when_waits_become_short_the_programs_own_value_is_back) {
  start();
  windows_until_tried();
  windows(10, 0.3);
  ASSERT_EQ(value, 1);
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(until_back(0.3, short_wait_s), 2 * window_s, 1e-9);
    const double begin = time_s;
    windows_until_tried();
    EXPECT_GT(time_s - begin, 1.5 * before) << "ever more seldom";
    before = time_s - begin;
    windows(of_a_trial, 0.3);
    ASSERT_EQ(log.back().what, outcome::kept);
  }
}

TEST_F(waits, it_comes_to_rest_where_spinning_always_hurts) {
  start();
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    windows_until_tried();
    windows(of_a_trial, 0.4);
    ASSERT_EQ(value, 1);
    const double lasted = until_back(0);
    EXPECT_GT(lasted, 1.5 * before);
    before = lasted;
  }
}

TEST_F(waits, who_sleeps_soon_by_himself_is_left_alone) {
  start(1);
  windows(20, 0.5);
  EXPECT_TRUE(log.empty());
}

TEST_F(waits, who_sleeps_at_once_by_himself_is_left_alone) {
  start(0);
  windows(20, 0.5);
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace trimtab::steer::testing
