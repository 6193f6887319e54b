#include "trimtab/diagnosis/blame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "machines.hpp"

namespace trimtab::diagnosis {

namespace {

using namespace machines;

// Who waits, who is charged, why the chain ends there, and for how long in all.
using totals = std::map<std::tuple<interval_index, interval_index, chain_end>, std::int64_t>;

totals totals_of(const std::vector<lane_interval>& intervals, lane_index lanes) {
  totals sums;
  for_each_charge(lane_order(intervals, lanes), [&](const charge& entry) {
    EXPECT_LT(entry.begin_ns, entry.end_ns);
    sums[{entry.wait, entry.culprit, entry.end}] += entry.end_ns - entry.begin_ns;
  });
  return sums;
}

// The same by a look at each nanosecond.
totals looked_at(const std::vector<lane_interval>& intervals, lane_index lanes) {
  totals sums;
  std::int64_t end_ns = 0;
  for (const lane_interval& entry : intervals) end_ns = std::max(end_ns, entry.end_ns);
  std::vector<interval_index> current(lanes);
  for (std::int64_t now = 0; now < end_ns; ++now) {
    std::ranges::fill(current, no_interval);
    for (interval_index at = 0; at < intervals.size(); ++at)
      if (intervals[at].begin_ns <= now && now < intervals[at].end_ns) current[intervals[at].lane] = at;
    for (lane_index lane = 0; lane < lanes; ++lane) {
      if (current[lane] == no_interval || intervals[current[lane]].kind != interval_kind::waiting) continue;
      lane_index next = lane;
      interval_index culprit = no_interval;
      chain_end end = chain_end::circle;
      for (lane_index steps = 0; steps <= lanes; ++steps) {
        const interval_index there = current[next];
        if (there == no_interval) {
          end = chain_end::absent_lane;
          break;
        }
        if (intervals[there].kind != interval_kind::waiting || intervals[there].giver == no_lane) {
          culprit = there;
          end = intervals[there].kind == interval_kind::waiting ? chain_end::unknown_giver : chain_end::interval;
          break;
        }
        next = intervals[there].giver;
      }
      ++sums[{current[lane], culprit, end}];
    }
  }
  return sums;
}

}  // namespace

TEST(blame, a_wait_is_charged_to_what_its_giver_does_meanwhile) {
  const std::vector<lane_interval> all = {busy(0, 0, 100), busy(1, 0, 40), busy(1, 40, 100), waiting(0, 100, 101, 1),
                                          waiting(2, 10, 100, 1)};
  EXPECT_EQ(totals_of(all, 3), (totals{{{3, no_interval, chain_end::absent_lane}, 1},
                                       {{4, 1, chain_end::interval}, 30},
                                       {{4, 2, chain_end::interval}, 60}}));
}

TEST(blame, moves_on_along_the_chain) {
  // 2 waits for 1, which waits for 0 from 20 to 50.
  const std::vector<lane_interval> all = {busy(0, 0, 50), busy(1, 0, 20), waiting(1, 20, 50, 0), busy(1, 50, 80),
                                          waiting(2, 10, 80, 1)};
  EXPECT_EQ(totals_of(all, 3), (totals{{{2, 0, chain_end::interval}, 30},
                                       {{4, 0, chain_end::interval}, 30},
                                       {{4, 1, chain_end::interval}, 10},
                                       {{4, 3, chain_end::interval}, 30}}));
}

TEST(blame, a_lane_without_a_cpu_is_where_a_chain_ends) {
  std::vector<lane_interval> all = {busy(0, 0, 10), busy(0, 10, 60), busy(0, 60, 70), waiting(1, 0, 70, 0)};
  all[1].kind = interval_kind::stopped;
  EXPECT_EQ(
      totals_of(all, 2),
      (totals{{{3, 0, chain_end::interval}, 10}, {{3, 1, chain_end::interval}, 50}, {{3, 2, chain_end::interval}, 10}}));
}

TEST(blame, an_unknown_giver_is_charged_to_the_wait_that_has_none) {
  const std::vector<lane_interval> all = {waiting(0, 0, 50, no_lane), waiting(1, 10, 50, 0)};
  EXPECT_EQ(totals_of(all, 2), (totals{{{0, 0, chain_end::unknown_giver}, 50}, {{1, 0, chain_end::unknown_giver}, 40}}));
}

TEST(blame, lanes_that_wait_for_each_other_are_a_circle) {
  const std::vector<lane_interval> all = {waiting(0, 0, 50, 1), waiting(1, 10, 50, 0), waiting(2, 20, 30, 0),
                                          waiting(3, 0, 50, 3)};
  EXPECT_EQ(totals_of(all, 4), (totals{{{0, no_interval, chain_end::absent_lane}, 10},
                                       {{0, no_interval, chain_end::circle}, 40},
                                       {{1, no_interval, chain_end::circle}, 40},
                                       {{2, no_interval, chain_end::circle}, 10},
                                       {{3, no_interval, chain_end::circle}, 50}}));
}

TEST(blame, agrees_with_a_look_at_each_nanosecond) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto lanes = static_cast<lane_index>(1 + seed % 9);
    const std::vector<lane_interval> all = random_machine(seed, lanes, 200);
    ASSERT_EQ(totals_of(all, lanes), looked_at(all, lanes)) << seed;
  }
}

TEST(blame, charges_of_64_lanes_add_up_to_their_waits) {
  const std::vector<lane_interval> all = random_machine(7, 64, 20'000);
  std::map<interval_index, std::int64_t> sums;
  for (const auto& [key, ns] : totals_of(all, 64)) sums[std::get<0>(key)] += ns;
  for (interval_index at = 0; at < all.size(); ++at) {
    const bool waits = all[at].kind == interval_kind::waiting;
    ASSERT_EQ(sums[at], waits ? all[at].end_ns - all[at].begin_ns : 0) << at;
  }
}

TEST(blame, merged_charges_say_the_same_in_fewer_words) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto lanes = static_cast<lane_index>(1 + seed % 9);
    const std::vector<lane_interval> all = random_machine(seed, lanes, 300);
    // By wait, group and kind of the culprit.
    std::map<std::tuple<interval_index, std::uint32_t, int, chain_end>, std::int64_t> expected, sums;
    const auto add = [&](auto& to, const charge& entry) {
      const bool has_culprit = entry.culprit != no_interval;
      const std::uint32_t group = has_culprit ? all[entry.culprit].group : 0;
      const int kind = has_culprit ? static_cast<int>(all[entry.culprit].kind) : -1;
      to[{entry.wait, group, kind, entry.end}] += entry.end_ns - entry.begin_ns;
    };
    const lane_order order(all, lanes);
    std::size_t charges = 0;
    for_each_charge(order, [&](const charge& entry) {
      add(expected, entry);
      ++charges;
    });
    const std::vector<charge> merged = merged_charges(order);
    ASSERT_LE(merged.size(), charges) << seed;
    std::map<interval_index, std::int64_t> until;
    for (const charge& entry : merged) {
      add(sums, entry);
      // One wait's charges follow each other without gaps, within the wait.
      const auto before = until.find(entry.wait);
      ASSERT_EQ(entry.begin_ns, before == until.end() ? all[entry.wait].begin_ns : before->second) << seed;
      until[entry.wait] = entry.end_ns;
    }
    ASSERT_EQ(sums, expected) << seed;
    for (const auto& [wait, end_ns] : until) ASSERT_EQ(end_ns, all[wait].end_ns) << seed;
  }
}

TEST(blame, sums_of_merged_charges_are_those_of_all_charges) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<lane_interval> all = random_machine(seed, 7, 400);
    const lane_order order(all, 7);
    const auto expected = blame_by_group(order);
    const auto sums = sums_of_charges(all, merged_charges(order));
    ASSERT_EQ(sums.size(), expected.size()) << seed;
    for (std::size_t at = 0; at < sums.size(); ++at) {
      ASSERT_EQ(std::tuple(sums[at].wait_group, sums[at].culprit_group, sums[at].culprit_kind, sums[at].end, sums[at].ns),
                std::tuple(expected[at].wait_group, expected[at].culprit_group, expected[at].culprit_kind, expected[at].end,
                           expected[at].ns))
          << seed;
    }
  }
}

TEST(blame, a_charge_of_no_interval_is_refused) {
  const std::vector<lane_interval> all = {busy(0, 0, 10)};
  EXPECT_THROW(sums_of_charges(all, std::vector{charge{.wait = 1}}), interval_error);
  EXPECT_THROW(sums_of_charges(all, std::vector{charge{.wait = 0, .culprit = 1}}), interval_error);
}

TEST(blame, charges_with_one_culprit_group_after_the_other_are_one) {
  const std::vector<lane_interval> all = {busy(0, 0, 10), busy(0, 10, 20), busy(0, 20, 30, 1), waiting(1, 5, 30, 0)};
  const std::vector<charge> merged = merged_charges(lane_order(all, 2));
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(std::tuple(merged[0].culprit, merged[0].begin_ns, merged[0].end_ns), std::tuple(0u, 5, 20));
  EXPECT_EQ(std::tuple(merged[1].culprit, merged[1].begin_ns, merged[1].end_ns), std::tuple(2u, 20, 30));
}

TEST(blame, sums_by_group_do_not_depend_on_the_order_of_intervals) {
  std::vector<lane_interval> all = random_machine(3, 12, 1'000);
  const auto sums = blame_by_group(lane_order(all, 12));
  std::ranges::reverse(all);
  const auto again = blame_by_group(lane_order(all, 12));
  ASSERT_EQ(sums.size(), again.size());
  std::int64_t ns = 0, waits_ns = 0;
  for (std::size_t at = 0; at < sums.size(); ++at) {
    EXPECT_EQ(sums[at].wait_group, again[at].wait_group);
    EXPECT_EQ(sums[at].culprit_group, again[at].culprit_group);
    EXPECT_EQ(sums[at].ns, again[at].ns);
    ns += sums[at].ns;
  }
  for (const lane_interval& entry : all)
    if (entry.kind == interval_kind::waiting) waits_ns += entry.end_ns - entry.begin_ns;
  EXPECT_EQ(ns, waits_ns);
}

}  // namespace trimtab::diagnosis
