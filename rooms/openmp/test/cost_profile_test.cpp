#include "steering/cost_profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace trimtab::openmp {
namespace {

std::vector<double> times_of(const cost_profile& costs, std::uint32_t parts, std::uint64_t trip, double (*cost)(double)) {
  std::vector<double> seconds(parts);
  for (std::uint32_t p = 0; p < parts; ++p)
    for (std::uint64_t i = costs.cut(p, parts, trip); i < costs.cut(p + 1, parts, trip); ++i)
      seconds[p] += cost(static_cast<double>(i) / static_cast<double>(trip));
  return seconds;
}
double imbalance_of(const std::vector<double>& seconds) {
  double all = 0;
  for (const double part : seconds) all += part;
  return *std::max_element(seconds.begin(), seconds.end()) * static_cast<double>(seconds.size()) / all;
}

double rising(double x) { return x; }
double falling(double x) { return 1.01 - x; }
double hill(double x) { return 0.02 + std::exp(-40 * (x - 0.4) * (x - 0.4)); }
double step(double x) { return x > 0.9 ? 20 : 1; }

TEST(cost_profile, blocks_cover_the_loop_and_none_is_empty) {
  cost_profile steep;
  for (int i = 0; i < 20; ++i) steep.learn(std::vector<double>{1e-6, 1, 1e-6, 1e3}, 1);
  for (const std::uint32_t parts : {1u, 2u, 3u, 4u, 7u, 64u})
    for (const std::uint64_t trip : {std::uint64_t{64}, std::uint64_t{65}, std::uint64_t{1000}, std::uint64_t{1} << 51}) {
      EXPECT_EQ(steep.cut(0, parts, trip), 0u);
      EXPECT_EQ(steep.cut(parts, parts, trip), trip);
      for (std::uint32_t p = 0; p < parts; ++p) ASSERT_LT(steep.cut(p, parts, trip), steep.cut(p + 1, parts, trip));
    }
}

TEST(cost_profile, learns_what_makes_blocks_take_equally_long) {
  for (auto* const cost : {rising, falling, hill, step})
    for (const std::uint32_t parts : {2u, 3u, 8u, 32u}) {
      cost_profile costs;
      const double before = imbalance_of(times_of(costs, parts, 100000, cost));
      for (int i = 0; i < 10; ++i) costs.learn(times_of(costs, parts, 100000, cost), 1);
      const double after = imbalance_of(times_of(costs, parts, 100000, cost));
      EXPECT_GT(before, 1.3);
      EXPECT_LT(after, 1.03) << parts;
    }
}

// What is left of the imbalance after `instances`, each of whose blocks takes up to a tenth longer by chance.
double left_of_noisy(std::uint32_t seed, std::uint64_t instances, bool are_windows_short) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> chance(1, 1.1);
  cost_profile costs;
  std::uint32_t learnt = 0;
  while (instances > 0) {
    const std::uint64_t window = std::min(learning_window(are_windows_short ? 0 : learnt), instances);
    const std::vector<double> exact = times_of(costs, 2, 1000, rising);
    std::vector<double> seconds(2);
    for (std::uint64_t i = 0; i < window; ++i)
      for (std::size_t part = 0; part < 2; ++part) seconds[part] += exact[part] * chance(random);
    instances -= window;
    if (!is_uneven(imbalance_of(seconds), window)) continue;
    costs.learn(seconds, 1);
    learnt += 1;
  }
  return imbalance_of(times_of(costs, 2, 1000, rising)) - 1;
}

TEST(cost_profile, is_learnt_from_more_instances_each_time_so_that_less_of_it_is_chance) {
  double left = 0, left_of_short = 0;
  constexpr std::uint32_t seeds = 50;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    left += left_of_noisy(seed, 250, false) / seeds;
    left_of_short += left_of_noisy(seed, 250, true) / seeds;
  }
  EXPECT_LT(left, 0.01);
  EXPECT_LT(left, 0.75 * left_of_short) << left_of_short;
}

TEST(cost_profile, what_is_learnt_with_some_threads_holds_for_others) {
  cost_profile costs;
  for (int i = 0; i < 10; ++i) costs.learn(times_of(costs, 8, 100000, rising), 1);
  for (const std::uint32_t parts : {2u, 3u, 5u, 16u}) EXPECT_LT(imbalance_of(times_of(costs, parts, 100000, rising)), 1.1);
}

TEST(cost_profile, text_stands_for_the_same_blocks) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> seconds(0.1, 1);
  cost_profile costs;
  EXPECT_EQ(costs.text(), "even");
  for (int i = 0; i < 200; ++i) {
    std::vector<double> took(2 + static_cast<std::size_t>(i % 9));
    for (double& part : took) part = seconds(random);
    costs.learn(took, 0.5);
    const auto copy = cost_profile::from_text(costs.text());
    ASSERT_TRUE(copy.has_value()) << costs.text();
    ASSERT_EQ(*copy, costs);
  }
}

TEST(cost_profile, other_texts_are_refused) {
  for (const char* text :
       {"", "0.5", "0.500000000/", "0.500000000/0.5", "0.500000000/0.250000000,", "1.500000000/0.250000000",
        "0.500000000/0.250000000,0.400000000/0.500000000", "0.500000000/0.250000000 ", "uneven", "0.5000000x0/0.250000000"})
    EXPECT_FALSE(cost_profile::from_text(text)) << text;
}

TEST(cost_profile, nonsense_teaches_nothing) {
  cost_profile costs;
  const cost_profile before = costs;
  costs.learn(std::vector<double>{1, 0}, 1);
  costs.learn(std::vector<double>{1, -1}, 1);
  costs.learn(std::vector<double>{1, std::nan("")}, 1);
  costs.learn(std::vector<double>{1}, 1);
  costs.learn({}, 1);
  EXPECT_EQ(costs, before);
}

}  // namespace
}  // namespace trimtab::openmp
