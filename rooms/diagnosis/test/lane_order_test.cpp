#include "trimtab/diagnosis/lane_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "machines.hpp"

namespace trimtab::diagnosis {

namespace {

using namespace machines;

std::string error_of(const std::vector<lane_interval>& intervals, lane_index lanes) {
  try {
    const lane_order order(intervals, lanes);
  } catch (const interval_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(lane_order, has_each_lane_in_the_order_of_time) {
  const std::vector<lane_interval> all = {busy(1, 50, 60), busy(0, 0, 10), busy(1, 20, 30), busy(2, 5, 6)};
  const lane_order order(all, 4);
  ASSERT_EQ(order.of_lane(1).size(), 2u);
  EXPECT_EQ(order.of_lane(1)[0], 2u);
  EXPECT_EQ(order.of_lane(1)[1], 0u);
  EXPECT_TRUE(order.of_lane(3).empty());
}

TEST(lane_order, finds_what_a_lane_did_just_before_a_moment) {
  const std::vector<lane_interval> all = {busy(0, 10, 20), busy(0, 20, 30), busy(0, 40, 50)};
  const lane_order order(all, 2);
  EXPECT_EQ(order.before(0, 10), no_interval);
  EXPECT_EQ(order.before(0, 11), 0u);
  EXPECT_EQ(order.before(0, 20), 0u);
  EXPECT_EQ(order.before(0, 21), 1u);
  EXPECT_EQ(order.before(0, 35), no_interval);
  EXPECT_EQ(order.before(0, 50), 2u);
  EXPECT_EQ(order.before(1, 50), no_interval);
}

TEST(lane_order, says_what_is_wrong) {
  EXPECT_EQ(error_of({busy(0, 10, 10)}, 1), "interval 0 of lane 0: expected an end after its begin, found 10 to 10 ns");
  EXPECT_EQ(error_of({busy(3, 0, 1)}, 3), "interval 0 of lane 3: expected a lane below 3");
  EXPECT_EQ(error_of({waiting(0, 0, 1, 5)}, 3), "interval 0 of lane 0: expected a giver below 3, found 5");
  EXPECT_EQ(error_of({busy(0, 0, 10), busy(0, 9, 12)}, 1),
            "interval 1 of lane 0: expected a begin at 10 ns or later, where the one before it ends, found 9 to 12 ns");
  EXPECT_EQ(error_of({}, 0), "");
}

TEST(lane_order, is_the_same_for_few_runs_and_for_any_order) {
  for (const std::int64_t runs : {1, 3, 8, 1000}) {
    std::vector<lane_interval> all;
    for (std::int64_t run = 0; run < runs; ++run)
      for (std::int64_t at = run; at < 1000; at += runs)
        for (lane_index lane = 0; lane < 2; ++lane) all.push_back(busy(lane, 10 * (999 - at), 10 * (999 - at) + 5));
    for (const bool is_reversed : {false, true}) {
      if (is_reversed) std::ranges::reverse(all);
      const lane_order order(all, 2);
      for (lane_index lane = 0; lane < 2; ++lane) {
        ASSERT_EQ(order.of_lane(lane).size(), 1000u);
        for (std::size_t at = 0; at < 1000; ++at) {
          ASSERT_EQ(all[order.of_lane(lane)[at]].lane, lane);
          ASSERT_EQ(all[order.of_lane(lane)[at]].begin_ns, 10 * static_cast<std::int64_t>(at));
        }
      }
    }
  }
}

}  // namespace trimtab::diagnosis
