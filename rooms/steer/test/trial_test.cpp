// Error rates are simulated with fixed seeds: the tests are the same every time.
#include "trimtab/steer/trial.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "trimtab/steer/random.hpp"

namespace trimtab::steer {
namespace {

double normal(random_source& source) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += source.share();
  return sum;
}

using noise = double (*)(random_source& source);
double even_noise(random_source& source) { return 1 + 0.05 * normal(source); }
double spiky_noise(random_source& source) {
  return 1 + 0.05 * normal(source) + (source.share() < 0.1 ? 5 * source.share() : 0);
}
double skewed_noise(random_source& source) { return 1 - 0.3 * std::log(1 - source.share()); }
double no_noise(random_source&) { return 1; }

struct outcomes {
  int accepted = 0;
  double pairs = 0;
};
outcomes outcomes_of(double ratio, noise noise_level, int trials, trial_options options = {}) {
  outcomes all;
  random_source source(42);
  for (int i = 0; i < trials; ++i) {
    paired_trial trial(options);
    while (trial.judged() == verdict::open) trial.add(ratio * noise_level(source), noise_level(source));
    all.accepted += trial.judged() == verdict::better;
    all.pairs += trial.pairs();
  }
  all.pairs /= trials;
  return all;
}

class under_noise : public ::testing::TestWithParam<noise> {};

TEST_P(under_noise, accepts_what_is_no_better_in_at_most_one_of_twenty) {
  EXPECT_LE(outcomes_of(1, GetParam(), 4000).accepted, 200);
  // Even when it is free to stop at any time, and asked for no gain at all.
  trial_options eager;
  eager.least_gain = 0;
  eager.futility = 1e-9;
  eager.clearly_worse = 1e9;
  eager.most_pairs = 200;
  EXPECT_LE(outcomes_of(1, GetParam(), 500, eager).accepted, 39);  // 5 %, and three standard deviations of this count
}

TEST_P(under_noise, hardly_ever_accepts_what_is_worse) { EXPECT_LE(outcomes_of(1.1, GetParam(), 1000).accepted, 10); }

INSTANTIATE_TEST_SUITE_P(trial, under_noise, ::testing::Values(even_noise, spiky_noise, skewed_noise, no_noise));

TEST(trial, accepts_what_is_better) {
  EXPECT_GE(outcomes_of(0.8, even_noise, 1000).accepted, 990);
  EXPECT_GE(outcomes_of(0.8, spiky_noise, 1000).accepted, 900);
  EXPECT_GE(outcomes_of(0.9, even_noise, 1000).accepted, 800);
  EXPECT_LE(outcomes_of(0.8, even_noise, 1000).pairs, 8);
}

TEST(trial, stops_early_when_it_is_clearly_worse) {
  EXPECT_LE(outcomes_of(2, even_noise, 1000).pairs, 2.0);
  EXPECT_LE(outcomes_of(1.1, even_noise, 1000).pairs, 5.5);
}

TEST(trial, accepts_no_gain_that_is_not_worth_it) { EXPECT_EQ(outcomes_of(0.985, no_noise, 1).accepted, 0); }

TEST(trial, tells_the_gain_with_an_interval_that_covers_it) {
  random_source source(1);
  int covered = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<double> logs;
    for (int pair = 0; pair < 10; ++pair) logs.push_back(std::log(0.8 * even_noise(source) / even_noise(source)));
    const estimate gain_found = gain_of(logs);
    covered += std::abs(gain_found.gain - 0.2) <= gain_found.uncertainty;
    EXPECT_EQ(gain_found.pairs, 10u);
  }
  EXPECT_GE(covered, 460);
}

TEST(trial, leaves_out_pairs_that_cannot_be) {
  paired_trial trial;
  trial.add(0, 1);
  trial.add(1, std::nan(""));
  EXPECT_EQ(trial.pairs(), 0u);
  EXPECT_EQ(trial.gain().pairs, 0u);
}

}  // namespace
}  // namespace trimtab::steer
