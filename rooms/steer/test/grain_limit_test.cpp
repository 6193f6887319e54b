// Trials with fewer threads: what is found, what they may cost, and when it no longer holds.
#include "trimtab/steer/thread_fitting/grain_limit.hpp"

#include <gtest/gtest.h>

#include "trimtab/steer/thread_fitting/team_trial.hpp"

namespace trimtab::steer {
namespace {

// Regions take `usual`, and `tried` with the members on trial. How many had these.
int run(team_trial& trial, std::uint64_t usual, std::uint64_t tried, int largest = 100000) {
  std::uint64_t now = 1;
  int on_trial = 0;
  for (int i = 0; i < largest && !trial.is_over(); ++i) {
    const bool is_tried = trial.begin_region(now);
    on_trial += is_tried;
    now += is_tried ? tried : usual;
  }
  return on_trial;
}

constexpr team_trial_options short_blocks{.least_block = 1000, .most_block = 10000};

TEST(team_trial, tells_the_ratio_of_what_regions_take) {
  team_trial trial(short_blocks);
  EXPECT_NEAR(run(trial, 10, 5), 5 * 201, 20);
  EXPECT_TRUE(trial.is_over());
  EXPECT_NEAR(trial.ratio(), 0.5, 1e-9);
  EXPECT_FALSE(trial.begin_region(0));
}

TEST(team_trial, ends_with_the_first_pair_without_gain) {
  team_trial trial(short_blocks);
  EXPECT_LE(run(trial, 100, 95), 20);
  EXPECT_NEAR(trial.ratio(), 0.95, 1e-9);
}

TEST(team_trial, learns_nothing_from_long_regions) {
  team_trial trial(short_blocks);
  EXPECT_EQ(run(trial, 5000, 10), 0);
  EXPECT_TRUE(trial.is_over());
  EXPECT_GE(trial.ratio(), 1);
}

TEST(team_trial, counts_no_region_of_who_is_told_one_later) {
  team_trial trial(short_blocks);
  std::uint64_t now = 1;
  for (bool was_tried = false; !trial.is_over();) {
    const bool is_tried = trial.begin_region(now);
    EXPECT_TRUE(!trial.is_counted() || is_tried == was_tried);
    now += was_tried ? 40 : 100;
    was_tried = is_tried;
  }
  EXPECT_NEAR(trial.ratio(), 0.4, 1e-9);
}

TEST(team_trial, shows_no_gain_where_it_is_given_up) {
  team_trial trial(short_blocks);
  trial.begin_region(1);
  trial.give_up();
  EXPECT_TRUE(trial.is_over());
  EXPECT_GE(trial.ratio(), 1);
}

TEST(team_trial, does_not_count_a_blocks_first_region) {
  team_trial trial(short_blocks);
  std::uint64_t now = 1;
  for (bool was_tried = false; !trial.is_over();) {
    const bool is_tried = trial.begin_region(now);
    now += is_tried != was_tried ? 900 : is_tried ? 40 : 100;  // the first of each makes threads, or ends them
    was_tried = is_tried;
  }
  EXPECT_NEAR(trial.ratio(), 0.4, 1e-9);
}

TEST(team_trial, is_over_before_it_begins) { EXPECT_FALSE(team_trial().begin_region(1)); }

TEST(grain_limit, tries_short_regions_only) {
  grain_limit limit;
  EXPECT_EQ(limit.next_trial(10, 1e-3, 8, 1, 0), 0);
  EXPECT_EQ(limit.next_trial(10, 0, 8, 1, 0), 0) << "not known";
  EXPECT_EQ(limit.next_trial(10, 1e-5, 8, 1, 0), 1);
  EXPECT_EQ(limit.next_trial(10, 1e-5, 1, 1, 2), 0) << "nothing was found: no more than there are";
}

TEST(grain_limit, costs_no_more_than_its_share_of_the_run) {
  grain_limit limit;
  EXPECT_EQ(limit.next_trial(0.02, 1e-6, 2, 1, 0), 0) << "1 ms is 5 % of it";
  EXPECT_EQ(limit.next_trial(0.05, 1e-6, 2, 1, 0), 1);
  EXPECT_EQ(limit.next_trial(0.05, 200e-6, 2, 1, 0), 0) << "16 of twice as much";
  double spent_s = 0;
  int trials = 0;
  for (double now_s = 0; now_s < 600; now_s += 0.1) {
    if (limit.next_trial(now_s, 200e-6, 2, 1, 0) == 0) continue;
    limit.begin(now_s, 1, trials++);
    EXPECT_EQ(limit.end(now_s, trials, 2.0, 2), grain_limit::result::no_gain);
    spent_s += 16 * 400e-6;
    EXPECT_LE(spent_s, 0.03 * now_s);
  }
  EXPECT_LE(trials, 20) << "ever more rarely";
  EXPECT_GE(trials, 5);
}

// A trial of the members that are expected, with so many threads before.
void make_trial(grain_limit& limit, double at_s, knob_value threads, knob_value larger, knob_value expected, double ratio) {
  static double trials = 0;
  EXPECT_EQ(limit.next_trial(at_s, 50e-6, threads, 1, larger), expected);
  limit.begin(at_s, expected, trials);
  EXPECT_EQ(limit.end(at_s + 0.01, trials, 0, threads), grain_limit::result::open);
  trials += 1;
  EXPECT_EQ(limit.end(at_s + 0.02, trials, ratio, threads),
            ratio > 0.9 ? grain_limit::result::no_gain : grain_limit::result::gain);
  EXPECT_EQ(limit.on_trial(), 0);
}

TEST(grain_limit, tries_half_as_many_where_one_is_too_few) {
  grain_limit limit;
  make_trial(limit, 1, 8, 0, 1, 1.5);
  EXPECT_EQ(limit.threads(), grain_limit::none);
  EXPECT_EQ(limit.next_trial(1.9, 50e-6, 8, 1, 0), 0);
  make_trial(limit, 2.1, 8, 0, 4, 0.7);
  EXPECT_EQ(limit.threads(), 4);
  make_trial(limit, 2.4, 4, 8, 2, 0.95);
  EXPECT_EQ(limit.threads(), 4);
  make_trial(limit, 4, 4, 8, 8, 0.5);
  EXPECT_EQ(limit.threads(), 8) << "the other way";
}

TEST(grain_limit, tries_more_again_now_and_then) {
  grain_limit limit;
  make_trial(limit, 1, 2, 0, 1, 0.02);
  EXPECT_EQ(limit.threads(), 1);
  EXPECT_EQ(limit.next_trial(1.5, 50e-6, 1, 1, 2), 0);
  make_trial(limit, 2.1, 1, 2, 2, 60);
  EXPECT_EQ(limit.next_trial(3, 50e-6, 1, 1, 2), 0);
  make_trial(limit, 3.2, 1, 2, 2, 60);
  EXPECT_EQ(limit.next_trial(5, 50e-6, 1, 1, 2), 0) << "twice as late";
}

struct a_found_limit : ::testing::Test {
  grain_limit limit;
  a_found_limit() { make_trial(limit, 1, 8, 0, 1, 0.6); }
};

TEST_F(a_found_limit, holds_until_regions_take_longer) {
  EXPECT_FALSE(limit.is_outgrown(1.5, 30e-6));
  EXPECT_FALSE(limit.is_outgrown(2, 55e-6));
  EXPECT_TRUE(limit.is_outgrown(2.2, 100e-6));
  EXPECT_EQ(limit.threads(), grain_limit::none);
  EXPECT_EQ(limit.next_trial(2.3, 50e-6, 8, 1, 0), 0) << "not at once";
}

TEST_F(a_found_limit, gives_up_a_trial_that_is_not_made) {
  limit.begin(2, 2, 100);
  EXPECT_EQ(limit.end(2.3, 100, 0.6, 4), grain_limit::result::open);
  EXPECT_EQ(limit.end(3.1, 100, 0.6, 4), grain_limit::result::no_gain) << "the ratio is that of the one before";
  EXPECT_EQ(limit.on_trial(), 0);
}

}  // namespace
}  // namespace trimtab::steer
