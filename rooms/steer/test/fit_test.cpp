#include "trimtab/steer/thread_fitting/fit.hpp"

#include "thread_fitting_harness.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::steer::testing {
namespace {

struct a_fit : ::testing::Test {
  fitted_process here{std::make_unique<fit>()};
  a_fit() { here.add_process(8); }
  knob_value down_to(knob_value threads) {
    const knob_value now = here.look({{figures::quota_cpus, static_cast<double>(threads)}});
    here.looks(3, {});  // until it has settled
    return now;
  }
};

TEST_F(a_fit, is_capped_at_once) {
  EXPECT_EQ(here.look({{figures::allowed_cpus, 6}}), 6);
  EXPECT_EQ(here.look({{figures::allowed_cpus, 6}, {figures::quota_cpus, 2.7}}), 2) << "rounded down";
  EXPECT_EQ(here.look({{figures::allowed_cpus, 6}, {figures::quota_cpus, 0.5}}), 1);
  EXPECT_EQ(here.log.back().reason, "its cgroup pays for 0.50 CPUs");
  EXPECT_EQ(here.log.back().evidence, (std::vector<figure>{{"quota_cpus", 0.5}}));
}

TEST_F(a_fit, knows_that_no_quota_is_no_limit) { EXPECT_EQ(here.looks(20, {{figures::quota_cpus, 0}}), 8); }

TEST_F(a_fit, takes_its_share_when_it_holds_and_only_among_others) {
  EXPECT_EQ(here.looks(5, {{figures::others, 0}, {figures::registry_share, 2}}), 8);
  EXPECT_EQ(here.look({{figures::others, 1}, {figures::registry_share, 4}}), 8);
  EXPECT_EQ(here.look({{figures::others, 1}, {figures::registry_share, 8}}), 8);
  EXPECT_EQ(here.look({{figures::others, 1}, {figures::registry_share, 4}}), 8);
  EXPECT_EQ(here.look({{figures::others, 1}, {figures::registry_share, 4}}), 4);
  EXPECT_EQ(here.looks(40, {{figures::others, 1}, {figures::registry_share, 4}, {figures::idle_cpus, 4}}), 4)
      << "idle CPUs are another's share";
}

TEST_F(a_fit, drops_at_once_to_what_is_left) {
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.05}}), 8) << "0.4 of a CPU, once";
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.02}}), 8);
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.35}}), 5) << "2.8 CPUs";
  EXPECT_EQ(here.log.back().reason, "members wait for a CPU 35 % of the time");
}

// Told before it is over: only what would be enough at its end, too, whatever comes until then.
TEST_F(a_fit, is_told_sooner_only_what_would_have_it_drop_at_the_end_of_the_window) {
  random_source random(1);
  int told_sooner = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double window_s = 0.05 + 0.1 * random.share(), so_far_s = window_s * random.share();
    const double lost_s = 8 * so_far_s * random.share() * random.share();
    if (!has_lost_enough(lost_s, so_far_s, window_s)) continue;
    told_sooner += 1;
    ASSERT_GE(so_far_s, window_s / 2);
    ASSERT_GE(lost_s / window_s, fit_options().lost_at_once);
    ASSERT_GE(lost_s / so_far_s, fit_options().lost_at_once);
  }
  EXPECT_GT(told_sooner, 1000);
  EXPECT_TRUE(has_lost_enough(0.03, 0.03, 0.06)) << "two members that have one CPU between them";
  EXPECT_FALSE(has_lost_enough(0.03, 0.029, 0.06)) << "too short to tell how much";
}

TEST_F(a_fit, drops_one_when_little_is_lost_twice) {
  here.look({{figures::run_delay_share, 0.05}});
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.05}}), 7);
}

TEST_F(a_fit, judges_a_window_once) {
  here.look({{figures::windows, 1}, {figures::run_delay_share, 0.05}});
  EXPECT_EQ(here.look({{figures::windows, 1}, {figures::run_delay_share, 0.05}}), 8);
  EXPECT_EQ(here.look({{figures::windows, 2}, {figures::run_delay_share, 0.05}}), 7);
}

TEST_F(a_fit, does_not_judge_what_was_measured_around_a_change) {
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.5}}), 4);
  EXPECT_EQ(here.looks(2, {{figures::run_delay_share, 0.5}}), 4);
  EXPECT_EQ(here.look({{figures::run_delay_share, 0.5}}), 2);
}

TEST_F(a_fit, counts_time_that_the_cgroup_was_stopped) {
  EXPECT_EQ(here.look({{figures::throttled_share, 0.5}, {figures::run_delay_share, 0.1}}), 4);
  EXPECT_EQ(here.log.back().reason, "its cgroup is stopped 50 % of the time");
}

TEST_F(a_fit, goes_by_skew_where_nothing_else_is_known) {
  here.looks(5, {{figures::skew_seconds, 1e-4}});
  here.look({{figures::skew_seconds, 0.008}});
  EXPECT_EQ(here.look({{figures::skew_seconds, 1e-4}}), 8);
  EXPECT_EQ(here.looks(2, {{figures::skew_seconds, 0.008}}), 7);
}

TEST_F(a_fit, does_not_take_a_programs_own_imbalance_for_load) {
  EXPECT_EQ(here.looks(50, {{figures::skew_seconds, 0.02}}), 8);
  EXPECT_EQ(here.looks(50, {{figures::skew_seconds, 0.2}, {figures::run_delay_share, 0}}), 8) << "the delay is known";
}

TEST_F(a_fit, adds_only_when_cpus_were_idle_at_a_stretch) {
  EXPECT_EQ(down_to(2), 2);
  EXPECT_EQ(here.looks(100, {{figures::idle_cpus, 0.7}}), 2);
  EXPECT_EQ(here.looks(100, {{figures::run_delay_share, 0}}), 2) << "idle time is not known";
  for (int i = 0; i < 20; ++i) here.looks(3, {{figures::idle_cpus, 2}}), here.look({{figures::idle_cpus, 0.1}});
  EXPECT_EQ(here.threads(), 2) << "never for long enough";
  EXPECT_EQ(here.looks(3, {{figures::idle_cpus, 1}}), 2);
  EXPECT_EQ(here.looks(2, {{figures::idle_cpus, 1}}), 3);
  EXPECT_EQ(here.log.back().evidence, (std::vector<figure>{{"idle_cpus", 1}}));
  EXPECT_EQ(here.looks(10, {{figures::idle_cpus, 1}, {figures::run_delay_share, 0.08}}), 3) << "0.24 of a CPU is lost";
}

TEST_F(a_fit, takes_a_longer_step_only_with_so_many_idle) {
  fitted_process powers(std::make_unique<fit>());
  powers.add({1, "process", {{"threads", *domain::powers_of_two(1, 8), 8, 0, consent::safe, 0, {}}}});
  EXPECT_EQ(powers.look({{figures::quota_cpus, 3}}), 2);
  EXPECT_EQ(powers.looks(50, {{figures::idle_cpus, 1}}), 2);
  EXPECT_EQ(powers.looks(2, {{figures::idle_cpus, 1.9}}), 4);
}

TEST_F(a_fit, waits_twice_as_long_after_each_add_that_did_not_stand) {
  down_to(1);
  std::vector<int> waits;
  for (int round = 0; round < 4; ++round) {
    int looks = 0;
    while (here.look({{figures::idle_cpus, 1}, {figures::run_delay_share, 0}}) == 1 && looks < 1000) looks += 1;
    waits.push_back(looks);
    here.looks(3, {{figures::run_delay_share, 0}});
    EXPECT_EQ(here.look({{figures::idle_cpus, 0}, {figures::run_delay_share, 0.4}}), 1);
  }
  for (std::size_t i = 1; i < waits.size(); ++i) EXPECT_NEAR(waits[i], 2 * waits[i - 1], 6) << i;
}

TEST_F(a_fit, can_not_be_driven_in_circles_by_its_own_thread) {
  const fit_options defaults;
  EXPECT_GT(defaults.lost_in_a_row, 1 - defaults.least_idle);
  EXPECT_GE(defaults.lost_at_once, defaults.lost_in_a_row);
  // The least idle time that lets it add, all of it used by the thread; the rest is somebody else's.
  down_to(1);
  EXPECT_EQ(here.looks(5, {{figures::idle_cpus, defaults.least_idle}, {figures::run_delay_share, 0}}), 2);
  EXPECT_EQ(here.looks(100, {{figures::idle_cpus, 0}, {figures::run_delay_share, (1 - defaults.least_idle) / 2}}), 2);
}

}  // namespace
}  // namespace trimtab::steer::testing
