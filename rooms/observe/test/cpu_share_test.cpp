#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "trimtab/base/hash.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::observe::testing {
namespace {

std::vector<cpu_member> members(const std::vector<std::uint32_t>& wanted) {
  std::vector<cpu_member> all;
  for (const std::uint32_t each : wanted) {
    cpu_member fresh;
    fresh.start = 100 + all.size();
    fresh.pid = static_cast<std::uint32_t>(50 + all.size());
    fresh.wanted = each;
    fresh.used = each;
    all.push_back(fresh);
  }
  return all;
}

std::vector<std::uint32_t> shares(const std::vector<cpu_member>& all, std::uint32_t cpus) {
  std::vector<std::uint32_t> each;
  for (std::size_t i = 0; i < all.size(); ++i) each.push_back(share_of(all, i, cpus));
  return each;
}

TEST(cpu_share, is_even_and_gives_what_is_over_to_the_oldest) {
  EXPECT_EQ(shares(members({8, 8}), 8), (std::vector<std::uint32_t>{4, 4}));
  EXPECT_EQ(shares(members({8, 8, 8}), 8), (std::vector<std::uint32_t>{3, 3, 2}));
  EXPECT_EQ(shares(members({1, 8, 8}), 8), (std::vector<std::uint32_t>{1, 4, 3}));
  EXPECT_EQ(shares(members({2, 3}), 8), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(shares(members({4, 4, 4}), 2), (std::vector<std::uint32_t>{1, 1, 1}));
}

TEST(cpu_share, is_fair_sums_up_and_is_the_same_for_all) {
  std::uint64_t seed = 3;
  const auto below = [&](std::uint64_t limit) { return base::mix(seed++) % limit; };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> wanted(1 + below(64));
    for (std::uint32_t& each : wanted) each = static_cast<std::uint32_t>(1 + below(20));
    const auto cpus = static_cast<std::uint32_t>(wanted.size() + below(200));
    const std::vector<cpu_member> all = members(wanted);
    const std::vector<std::uint32_t> found = shares(all, cpus);
    std::uint32_t sum = 0, all_wanted = 0;
    const std::uint32_t largest = *std::max_element(found.begin(), found.end());
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum += found[i];
      all_wanted += wanted[i];
      ASSERT_GE(found[i], 1u);
      ASSERT_LE(found[i], wanted[i]);
      ASSERT_TRUE(found[i] == wanted[i] || found[i] + 1 >= largest) << "one has less than it could, round " << round;
    }
    ASSERT_EQ(sum, std::min(cpus, all_wanted));
    // Seen in another order, as another member sees them.
    std::vector<cpu_member> turned = all;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(below(turned.size())), turned.end());
    for (std::size_t i = 0; i < turned.size(); ++i) ASSERT_EQ(share_of(turned, i, cpus), found[turned[i].pid - 50]);
  }
}

TEST(cpu_share, leaves_out_what_other_programs_use) {
  const std::vector<cpu_member> two = members({2, 2});
  EXPECT_EQ(cpus_to_share(two, 0, 4, 0), 4u);
  EXPECT_EQ(cpus_to_share(two, 0, 8, 3.2), 7u) << "somebody else has 0.8 of a CPU";
  EXPECT_EQ(cpus_to_share(two, 0, 8, 0.3), 4u);
  EXPECT_EQ(cpus_to_share(two, 0, 3, 0), 3u);
  EXPECT_EQ(cpus_to_share(two, 0, 0, -1), 1u);
}

TEST(cpu_share, counts_the_cpus_that_two_have_in_common) {
  std::vector<cpu_member> two = members({4, 4});
  two[0].allowed = {0b00001111};
  two[1].allowed = {0b00111100};
  EXPECT_EQ(share_of(two, 0, 4), 2u) << "the other wants two of its own";
  two[1].allowed = {0b11110000};
  EXPECT_EQ(share_of(two, 0, 4), 4u);
  base::cpu_mask mask;
  mask.bits[0] = 0b101;
  mask.bits[4] = 0b010;
  EXPECT_EQ(fold(mask), (cpu_fold{0b111}));
}

}  // namespace
}  // namespace trimtab::observe::testing
