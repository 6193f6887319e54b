#include "trimtab/observe/lane_times.hpp"

#include <gtest/gtest.h>

namespace trimtab::observe {
namespace {

TEST(lane_times, are_those_since_the_last_call) {
  times_of_threads now = {{7, {3000, 100, 7}}, {8, {50, 0, 1}}};
  lane_times lanes([&] { return now; });
  EXPECT_EQ(lanes.since_last().value().run_delay_ns, 0u) << "nothing to compare with";
  now = {{7, {5000, 1100, 9}}, {8, {1050, 0, 2}}};
  const thread_times since = lanes.since_last().value();
  EXPECT_EQ(since.run_ns, 3000u);
  EXPECT_EQ(since.run_delay_ns, 1000u);
  EXPECT_EQ(since.time_slices, 3u);
}

TEST(lane_times, are_of_threads_that_were_there_before) {
  times_of_threads now = {{7, {3000, 600, 7}}, {8, {900, 60, 3}}};
  lane_times lanes([&] { return now; });
  lanes.since_last();
  now = {{7, {3500, 700, 8}}, {8, {100, 10, 1}}, {9, {9000, 4000, 20}}};
  const thread_times since = lanes.since_last().value();
  EXPECT_EQ(since.run_ns, 500u);
  EXPECT_EQ(since.run_delay_ns, 100u);
}

TEST(lane_times, are_not_known_where_nothing_can_be_read) {
  times_of_threads now = {{7, {3000, 600, 7}}};
  lane_times lanes([&] { return now; });
  lanes.since_last();
  now = {};
  EXPECT_FALSE(lanes.since_last().has_value());
  EXPECT_EQ(lanes.delay_share(), std::nullopt);
}

TEST(lane_times, tell_for_how_much_of_their_time_threads_had_no_cpu) {
  times_of_threads now = {{7, {3000, 100, 7}}};
  lane_times lanes([&] { return now; });
  EXPECT_EQ(lanes.delay_share(), std::nullopt) << "nothing to compare with";
  now = {{7, {6000, 1100, 9}}};
  EXPECT_DOUBLE_EQ(lanes.delay_share().value_or(-1), 0.25);
  EXPECT_EQ(lanes.delay_share(), std::nullopt) << "nobody has run since";
}

}  // namespace
}  // namespace trimtab::observe
