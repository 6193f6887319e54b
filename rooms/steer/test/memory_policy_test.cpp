// The rule for memory that is given back and taken again, told figures by the test.
#include "trimtab/steer/memory_policy.hpp"

#include "scenario.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr double window_s = 0.05;
constexpr int of_a_trial = static_cast<int>(memory_policy_options{}.windows);
constexpr int most_of_a_trial = static_cast<int>(memory_policy_options{}.most_windows);

class memory : public ::testing::Test {
 protected:
  memory() {
    m_steering.add(std::make_unique<memory_policy>());
    m_info.knobs = {{"keep", *domain::categories({"as-is", "keep"}), 0, 0, consent::safe, 0, {}},
                    {"huge-pages", *domain::categories({"off", "on"}), 0, 0, consent::safe, 0, {}}};
  }
  void windows(int count) {
    for (int i = 0; i < count; ++i) window();
  }
  void window() {
    m_windows += 1;
    time_s += window_s;
    const bool keeps = values[0] != 0, is_huge = values[1] != 0;
    snapshot now;
    now.time_s = time_s;
    if (m_windows == 1) now.appeared = {m_info};
    const double time = 10e-3 * (keeps ? kept : 1) * (is_huge ? huge : 1);
    now.subjects = {{1,
                     {{m_under, time, window_s}},
                     {{std::string(figures::refault_share), keeps ? 0 : refaults},
                      {std::string(figures::kernel_share), keeps ? kernel_when_kept : 0.5},
                      {std::string(figures::memory_rise), rise},
                      {std::string(figures::is_memory_over), (keeps || is_huge) && is_over ? 1.0 : 0.0},
                      {std::string(figures::windows), m_windows}}}};
    for (const decision& decision : m_steering.step(now)) {
      log.push_back(decision);
      m_under = decision.number;
      if (decision.what == outcome::kept) continue;
      for (const change& change : decision.changes) values[change.knob] = change.to;
    }
  }
  // Until there is enough of a budget for a trial.
  void windows_until_tried(std::size_t knob) {
    while (values[knob] == 0 && time_s < 100) window();
    ASSERT_EQ(values[knob], 1);
  }
  std::vector<outcome> outcomes() const {
    std::vector<outcome> all;
    for (const decision& decision : log) all.push_back(decision.what);
    return all;
  }

  double refaults = 0.4, kept = 0.6, huge = 0.8, kernel_when_kept = 0.1, rise = 0.05;
  bool is_over = false;
  std::vector<knob_value> values{0, 0};
  std::vector<decision> log;
  double time_s = 0;

 private:
  engine m_steering;
  subject_info m_info{1, "memory", {}};
  double m_windows = 0;
  decision_number m_under = 0;
};

TEST_F(memory, is_left_alone_where_faults_are_few) {
  refaults = 0.02;
  windows(200);
  EXPECT_TRUE(log.empty());
}

TEST_F(memory, is_kept_and_then_in_huge_pages_where_both_help) {
  windows_until_tried(0);
  EXPECT_EQ(log.back().reason, "40 % of its CPU time is spent on faults on memory that it gave back before");
  windows(of_a_trial - 1);
  EXPECT_EQ(outcomes(), std::vector{outcome::trial});
  windows(1);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::kept}));
  EXPECT_EQ(log.back().reason, "the same work takes 60 % of the time; peak memory 5 % higher");
  windows_until_tried(1);
  windows(of_a_trial);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::kept, outcome::trial, outcome::kept}));
  windows(200);
  EXPECT_EQ(log.size(), 4u);
}

TEST_F(memory, is_as_before_where_the_work_takes_longer) {
  kept = 1.1;
  windows_until_tried(0);
  windows(of_a_trial);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::undone}));
  EXPECT_EQ(values[0], 0);
}

TEST_F(memory, is_as_before_where_next_to_nothing_is_gained) {
  kept = 1;
  windows_until_tried(0);
  windows(most_of_a_trial - 1);
  EXPECT_EQ(outcomes(), std::vector{outcome::trial});
  windows(1);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::undone}));
}

TEST_F(memory, is_as_before_where_the_kernel_has_as_much_to_do) {
  kernel_when_kept = 0.5;
  windows_until_tried(0);
  windows(most_of_a_trial);
  EXPECT_EQ(outcomes().at(1), outcome::undone);
}

TEST_F(memory, is_tried_again_after_longer_and_longer) {
  kept = 1.1;
  huge = 1.1;
  std::vector<double> tried_s;
  while (time_s < 60) {
    const std::size_t decisions = log.size();
    window();
    if (log.size() > decisions && log.back().what == outcome::trial && values[0] == 1) tried_s.push_back(time_s);
  }
  ASSERT_GE(tried_s.size(), 3u);
  EXPECT_GE(tried_s[1] - tried_s[0], 2);
  EXPECT_GT(tried_s[2] - tried_s[1], 1.5 * (tried_s[1] - tried_s[0]));
}

TEST_F(memory, of_a_trial_that_takes_too_much_is_given_back_and_not_taken_again) {
  windows_until_tried(0);
  is_over = true;
  rise = 0.3;
  windows(1);
  EXPECT_EQ(outcomes(), (std::vector{outcome::trial, outcome::undone}));
  EXPECT_EQ(log.back().reason, "peak memory 30 % higher, which is more than allowed");
  is_over = false;
  windows(2000);
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(memory, that_was_kept_is_given_back_when_it_becomes_too_much) {
  windows_until_tried(0);
  windows(of_a_trial);
  windows_until_tried(1);
  windows(of_a_trial);
  ASSERT_EQ(log.size(), 4u);
  is_over = true;
  windows(1);
  EXPECT_EQ(log.back().what, outcome::set);
  EXPECT_EQ(values, (std::vector<knob_value>{0, 0}));
  is_over = false;
  windows(2000);
  EXPECT_EQ(log.size(), 5u);
}

}  // namespace
}  // namespace trimtab::steer::testing
