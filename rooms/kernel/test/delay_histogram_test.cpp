#include "trimtab/kernel/delay_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace trimtab::kernel {

TEST(delay_histogram, is_empty_at_first) {
  const delay_histogram delays;
  EXPECT_EQ(delays.count(), 0u);
  EXPECT_EQ(delays.sum_ns(), 0u);
  EXPECT_EQ(delays.percentile_ns(0.5), 0u);
}

TEST(delay_histogram, percentiles_are_at_most_a_part_in_32_too_large) {
  std::mt19937_64 random(1);
  delay_histogram delays;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t ns = random() >> (random() % 64);
    all.push_back(ns);
    delays.add(ns);
  }
  std::ranges::sort(all);
  for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * 20'000)));
    const std::uint64_t exact = all[rank - 1], found = delays.percentile_ns(share);
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(found - exact, exact / 32 + 1) << share;
  }
  EXPECT_EQ(delays.greatest_ns(), all.back());
}

TEST(delay_histogram, of_two_is_that_of_all) {
  delay_histogram first, second, both;
  for (std::uint64_t ns = 1; ns < 100'000; ns += 7) {
    (ns % 2 == 0 ? first : second).add(ns);
    both.add(ns);
  }
  first.add(second);
  EXPECT_EQ(first.count(), both.count());
  EXPECT_EQ(first.sum_ns(), both.sum_ns());
  for (const double share : {0.1, 0.5, 0.99}) EXPECT_EQ(first.percentile_ns(share), both.percentile_ns(share));
}

TEST(delay_histogram, takes_the_greatest_number) {
  delay_histogram delays;
  delays.add(UINT64_MAX);
  EXPECT_EQ(delays.percentile_ns(1), UINT64_MAX);
}

}  // namespace trimtab::kernel
