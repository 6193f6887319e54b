#include "trimtab/diagnosis/step_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace trimtab::diagnosis {

namespace {

// Columns with the same steps as a program.
struct columns {
  std::vector<std::int64_t> duration_ns, lead_ns, recorded_begin_ns, latency_ns;
  std::vector<lane_index> lane;
  std::vector<std::uint32_t> pool;
  std::vector<step_index> from, to;
  std::vector<link_base> base;

  void add(const step& item, lane_index step_lane) {
    duration_ns.push_back(item.duration_ns);
    lead_ns.push_back(item.lead_ns);
    recorded_begin_ns.push_back(item.recorded_begin_ns);
    lane.push_back(step_lane);
    pool.push_back(item.pool == no_pool ? 0 : item.pool + 1);
  }
  void add(const link& item) {
    from.push_back(item.from);
    to.push_back(item.to);
    latency_ns.push_back(item.latency_ns);
    base.push_back(item.base);
  }
  step_table table(lane_index lanes, lane_index servers) const {
    return {lane.size(),    duration_ns.data(),
            lead_ns.data(), recorded_begin_ns.data(),
            lane.data(),    pool.data(),
            from.size(),    from.data(),
            to.data(),      latency_ns.data(),
            base.data(),    lanes,
            servers,        nullptr,
            nullptr};
  }
};

// Steps of lanes, of a pool and of neither; links lead from earlier steps to later ones. The last lanes only serve the pool.
std::pair<work, columns> random_program(std::uint64_t seed, lane_index lanes, lane_index servers) {
  std::mt19937_64 random(seed);
  std::pair<work, columns> both_forms;
  auto& [program, table] = both_forms;
  program.pools = 1;
  program.lanes.resize(lanes);
  for (step_index at = 0; at < 60; ++at) {
    step item{.duration_ns = static_cast<std::int64_t>(random() % 50),
              .lead_ns = static_cast<std::int64_t>(random() % 4),
              .recorded_begin_ns = at};
    lane_index step_lane = no_lane;
    const auto kind = random() % 3;
    if (kind == 0) item.pool = 0;
    if (kind == 1) {
      step_lane = static_cast<lane_index>(random() % (lanes - servers));
      program.lanes[step_lane].push_back({duty_kind::own_step, at});
    }
    program.steps.push_back(item);
    table.add(item, step_lane);
    for (std::uint64_t links = at == 0 ? 0 : random() % 3; links > 0; --links)
      program.links.push_back({static_cast<step_index>(random() % at), at, static_cast<std::int64_t>(random() % 3),
                               static_cast<link_base>(random() % 2)});
  }
  for (lane_index lane = lanes - servers; lane < lanes; ++lane) program.lanes[lane].push_back({duty_kind::serve_pool, 0});
  for (const link& item : program.links) table.add(item);
  return both_forms;
}

}  // namespace

TEST(step_table, is_replayed_as_the_same_program) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto [program, input] = random_program(seed, 4, 2);
    const step_table table = input.table(4, 2);
    const auto expected = replay(program), found = replay(table);
    if (!expected || !found) GTEST_FAIL() << seed;
    ASSERT_EQ(found->begin_ns, expected->begin_ns) << seed;
    ASSERT_EQ(found->lane, expected->lane) << seed;
    ASSERT_EQ(replayed_end_ns(table), expected->end_ns) << seed;
  }
}

TEST(step_table, says_what_can_never_begin) {
  columns input;
  input.add({.duration_ns = 1}, 0);
  input.add({.duration_ns = 1}, no_lane);
  input.add(link{1, 0});
  input.add(link{0, 1});
  std::string problem;
  EXPECT_FALSE(replayed_end_ns(input.table(1, 0), &problem));
  EXPECT_EQ(problem,
            "2 of 2 steps can never begin: they wait for each other, or no lane serves their pool; the first is step 0");
}

TEST(step_table, refuses_lanes_and_steps_that_are_not_there) {
  columns input;
  input.add({.duration_ns = 1}, 1);
  EXPECT_THROW(replayed_end_ns(input.table(1, 0)), std::invalid_argument);
  EXPECT_EQ(replayed_end_ns(input.table(2, 0)), 1);
  input.add(link{0, 1});
  EXPECT_THROW(replayed_end_ns(input.table(2, 0)), std::invalid_argument);
}

TEST(step_table, a_lane_takes_steps_of_a_pool_before_its_own) {
  columns input;
  input.add({.duration_ns = 10, .pool = 0}, no_lane);
  input.add({.duration_ns = 5, .pool = 0}, 0);
  const auto result = replay(input.table(1, 0));
  if (!result) GTEST_FAIL();
  EXPECT_EQ(result->begin_ns, (std::vector<std::int64_t>{0, 10}));
}

}  // namespace trimtab::diagnosis
