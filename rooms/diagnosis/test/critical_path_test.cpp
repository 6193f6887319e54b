#include "trimtab/diagnosis/critical_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machines.hpp"

namespace trimtab::diagnosis {

namespace {

using namespace machines;

std::vector<interval_index> on_path(const std::vector<lane_interval>& intervals, lane_index lanes) {
  std::vector<interval_index> result;
  for (const path_part& part : critical_path(lane_order(intervals, lanes))) result.push_back(part.interval);
  return result;
}

}  // namespace

TEST(critical_path, goes_from_the_end_of_a_wait_to_who_ended_it) {
  const std::vector<lane_interval> all = {busy(0, 0, 30), waiting(0, 30, 60, 1), busy(0, 60, 90), busy(1, 0, 60),
                                          waiting(1, 60, 90, 0)};
  EXPECT_EQ(on_path(all, 2), (std::vector<interval_index>{3, 2}));
}

TEST(critical_path, contains_a_wait_only_where_nobody_knows_who_ended_it) {
  const std::vector<lane_interval> all = {busy(0, 0, 30), waiting(0, 30, 60, no_lane), busy(0, 60, 90)};
  EXPECT_EQ(on_path(all, 1), (std::vector<interval_index>{0, 1, 2}));
}

TEST(critical_path, a_lane_that_had_nothing_is_a_gap) {
  const std::vector<lane_interval> all = {busy(0, 10, 30), busy(0, 50, 90), busy(1, 0, 20)};
  const auto path = critical_path(lane_order(all, 2));
  ASSERT_EQ(path.size(), 4u);
  EXPECT_EQ(path[0].interval, no_interval);
  EXPECT_EQ(path[0].begin_ns, 0);
  EXPECT_EQ(path[0].end_ns, 10);
  EXPECT_EQ(path[2].interval, no_interval);
}

TEST(critical_path, of_nothing_is_empty) { EXPECT_TRUE(critical_path(lane_order({}, 3)).empty()); }

// Whatever the lanes do: the parts follow each other, and are as long as the whole.
TEST(critical_path, is_as_long_as_the_whole_time) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto lanes = static_cast<lane_index>(1 + seed % 9);
    const std::vector<lane_interval> all = random_machine(seed, lanes, 300);
    const auto path = critical_path(lane_order(all, lanes));
    ASSERT_FALSE(path.empty());
    std::int64_t now = std::ranges::min(all, {}, &lane_interval::begin_ns).begin_ns;
    for (const path_part& part : path) {
      ASSERT_EQ(part.begin_ns, now) << seed;
      ASSERT_LT(part.begin_ns, part.end_ns) << seed;
      if (part.interval != no_interval) {
        ASSERT_EQ(all[part.interval].lane, part.lane);
        ASSERT_LE(all[part.interval].begin_ns, part.begin_ns);
        ASSERT_GE(all[part.interval].end_ns, part.end_ns);
      }
      now = part.end_ns;
    }
    ASSERT_EQ(now, std::ranges::max(all, {}, &lane_interval::end_ns).end_ns) << seed;
  }
}

}  // namespace trimtab::diagnosis
