// The rule for how threads wait, told figures by the test.
#include "trimtab/steer/wait_policy.hpp"

#include "scenario.hpp"
#include "trimtab/steer/fitting/figures.hpp"

namespace trimtab::steer::testing {
namespace {

class waits : public ::testing::Test {
 protected:
  void start(knob_value own = 200) {
    m_steering.add(std::make_unique<wait_policy>());
    info.knobs = {{"blocktime", *domain::set({0, 1, 10, 200, own}), own, 0, consent::safe, 0, {}}};
    m_value = own;
  }
  // So many windows of a quarter of a second.
  void windows(int count, double share) {
    for (int i = 0; i < count; ++i) {
      m_windows += 1;
      m_time_s += 0.25;
      look(share);
    }
  }
  void look(double share) {
    snapshot now;
    now.time_s = m_time_s;
    if (m_windows == 1) now.appeared = {info};
    now.subjects = {{1, {}, {{std::string(figures::run_delay_share), share}, {std::string(figures::windows), m_windows}}}};
    for (const decision& each : m_steering.step(now)) {
      EXPECT_EQ(each.what, outcome::set);
      m_value = each.changes.at(0).to;
      decided += 1;
    }
  }
  double until_back(double share) {
    const double begin = m_time_s;
    while (m_value == 1 && m_time_s < begin + 1000) windows(1, share);
    return m_time_s - begin;
  }

  subject_info info{1, "waiting threads", {}};
  engine m_steering;
  knob_value m_value = -1;
  double m_time_s = 0, m_windows = 0;
  int decided = 0;
};

TEST_F(waits, threads_that_have_their_cpus_are_left_alone) {
  start();
  windows(100, 0.01);
  EXPECT_EQ(decided, 0);
}

TEST_F(waits, one_bad_window_is_chance_two_are_not) {
  start();
  windows(3, 0);
  windows(1, 0.5);
  windows(1, 0);
  windows(1, 0.5);
  EXPECT_EQ(decided, 0);
  // The same window again is none of its own.
  m_time_s += 1;
  look(0.5);
  EXPECT_EQ(decided, 0);
  windows(1, 0.5);
  EXPECT_EQ(m_value, 1);
}

TEST_F(waits, when_it_calms_down_the_programs_own_value_is_back) {
  start(150);
  windows(4, 0.3);
  ASSERT_EQ(m_value, 1);
  windows(40, 0.03);
  EXPECT_EQ(m_value, 1) << "better, but not calm";
  EXPECT_NEAR(until_back(0), 2, 0.5);
  EXPECT_EQ(m_value, 150);
}

TEST_F(waits, it_comes_to_rest_where_spinning_always_hurts) {
  start();
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    windows(2, 0.4);
    ASSERT_EQ(m_value, 1);
    const double lasted = until_back(0);
    EXPECT_GT(lasted, 1.5 * before);
    before = lasted;
  }
}

TEST_F(waits, who_sleeps_soon_by_himself_is_left_alone) {
  start(1);
  windows(20, 0.5);
  EXPECT_EQ(decided, 0);
}

TEST_F(waits, who_sleeps_at_once_by_himself_is_left_alone) {
  start(0);
  windows(20, 0.5);
  EXPECT_EQ(decided, 0);
}

}  // namespace
}  // namespace trimtab::steer::testing
