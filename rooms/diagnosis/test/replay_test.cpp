#include "trimtab/diagnosis/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace trimtab::diagnosis {

namespace {

constexpr duty own_step_of(step_index at) { return {duty_kind::own_step, at}; }
constexpr duty serve(pool_index pool) { return {duty_kind::serve_pool, pool}; }
step pooled(std::int64_t duration_ns, std::int64_t recorded_begin_ns = 0) {
  return {.duration_ns = duration_ns, .recorded_begin_ns = recorded_begin_ns, .pool = 0};
}
std::int64_t end_of(const work& program) {
  std::string problem;
  const auto result = replay(program, &problem);
  EXPECT_TRUE(result) << problem;
  return result ? result->end_ns : -1;
}

// Steps of two pools and of lanes, with links that go from earlier to later steps only.
work random_work(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  work program;
  program.pools = 2;
  program.lanes.resize(1 + random() % 6);
  const auto count = static_cast<step_index>(20 + random() % 60);
  std::vector<std::vector<step_index>> own_steps(program.lanes.size());
  for (step_index at = 0; at < count; ++at) {
    step entry{.duration_ns = static_cast<std::int64_t>(1 + random() % 50),
               .lead_ns = static_cast<std::int64_t>(random() % 4)};
    // The first third is of lanes, then a pool each.
    if (at < count / 3)
      own_steps[random() % own_steps.size()].push_back(at);
    else
      entry.pool = at < 2 * count / 3 ? 0 : 1;
    entry.recorded_begin_ns = at;
    program.steps.push_back(entry);
    for (std::uint64_t links = at == 0 ? 0 : random() % 3; links > 0; --links)
      program.links.push_back({static_cast<step_index>(random() % at), at, static_cast<std::int64_t>(random() % 3),
                               static_cast<link_base>(random() % 2)});
  }
  for (std::size_t lane = 0; lane < program.lanes.size(); ++lane) {
    for (const step_index at : own_steps[lane]) program.lanes[lane].push_back(own_step_of(at));
    program.lanes[lane].push_back(serve(0));
    program.lanes[lane].push_back(serve(1));
  }
  return program;
}

}  // namespace

TEST(replay, a_lane_does_its_steps_in_their_order) {
  EXPECT_EQ(
      end_of({.steps = {{10}, {20}, {30}}, .links = {}, .lanes = {{own_step_of(2), own_step_of(0)}, {own_step_of(1)}}}), 40);
}

TEST(replay, a_step_waits_for_all_that_it_is_linked_to) {
  work program{.steps = {{10}, {25}, {5}},
               .links = {{0, 2, 0}, {1, 2, 3}},
               .lanes = {{own_step_of(0), own_step_of(2)}, {own_step_of(1)}}};
  EXPECT_EQ(end_of(program), 25 + 3 + 5);
  program.steps[1].duration_ns = 2;
  EXPECT_EQ(end_of(program), 10 + 5) << "another one is the last to arrive";
}

TEST(replay, a_step_makes_others_ready_in_the_middle_of_its_work) {
  // The producer makes a step each 10, and goes on for 100.
  work program{.steps = {{100}, pooled(30), pooled(30)},
               .links = {{0, 1, 10, link_base::begin}, {0, 2, 20, link_base::begin}},
               .lanes = {{own_step_of(0)}, {serve(0)}},
               .pools = 1};
  auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns, (std::vector<std::int64_t>{0, 10, 40}));
  EXPECT_EQ(result->end_ns, 100);
  program.links[1].latency_ns = 150;
  EXPECT_EQ(end_of(program), 150 + 30) << "what comes later than its end";
}

TEST(replay, a_barrier_is_a_step_of_no_lane) {
  // Two lanes, two rounds of a loop with a barrier after each.
  const work program{.steps = {{10}, {30}, {0}, {40}, {20}, {0}},
                     .links = {{0, 2, 0}, {1, 2, 0}, {2, 3, 1}, {2, 4, 1}, {3, 5, 0}, {4, 5, 0}},
                     .lanes = {{own_step_of(0), own_step_of(3)}, {own_step_of(1), own_step_of(4)}}};
  EXPECT_EQ(end_of(program), 30 + 1 + 40);
  EXPECT_EQ(replay(program)->lane[2], no_lane);
}

TEST(replay, free_lanes_take_the_step_that_began_first) {
  const work program{
      .steps = {pooled(10, 3), pooled(40, 1), pooled(20, 2)}, .links = {}, .lanes = {{serve(0)}, {serve(0)}}, .pools = 1};
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns, (std::vector<std::int64_t>{20, 0, 0}));
  EXPECT_EQ(result->end_ns, 40);
}

TEST(replay, more_lanes_help_where_there_is_work_for_them) {
  work program{.steps = std::vector<step>(8, pooled(10)), .links = {}, .lanes = {{serve(0)}}, .pools = 1};
  EXPECT_EQ(end_of(program), 80);
  program.lanes.assign(4, {serve(0)});
  EXPECT_EQ(end_of(program), 20);
  for (step_index at = 1; at < 8; ++at) program.links.push_back({at - 1, at, 0});
  EXPECT_EQ(end_of(program), 80) << "each waits for the one before";
}

TEST(replay, a_lane_goes_on_when_all_steps_of_a_pool_have_begun) {
  // A loop of two chunks, and then a step of each lane: the second lane need not wait for the first one's chunk.
  const work program{.steps = {pooled(100, 0), pooled(10, 1), {5}, {5}},
                     .links = {},
                     .lanes = {{serve(0), own_step_of(2)}, {serve(0), own_step_of(3)}},
                     .pools = 1};
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns[3], 10);
  EXPECT_EQ(result->begin_ns[2], 100);
}

TEST(replay, pools_have_orders_of_their_own) {
  // Two loops, one after the other: the order of the steps of both is mixed.
  const work program{.steps = {{10, 0, 1, 1}, {20, 0, 0, 0}, {30, 0, 3, 1}, {40, 0, 2, 0}},
                     .links = {},
                     .lanes = {{serve(0), serve(1)}},
                     .pools = 2};
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns, (std::vector<std::int64_t>{60, 0, 70, 20}));
}

TEST(replay, an_idle_lane_of_a_pool_is_woken) {
  // The producer makes a step ready after 50, the other one waits for it.
  const work program{.steps = {{50}, {100}, pooled(10)},
                     .links = {{0, 2, 0}},
                     .lanes = {{own_step_of(0), own_step_of(1)}, {serve(0)}},
                     .pools = 1};
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns[2], 50);
  EXPECT_EQ(result->lane[2], 1u);
}

TEST(replay, says_what_can_never_begin) {
  std::string problem;
  EXPECT_FALSE(
      replay({.steps = {{1}, {1}}, .links = {{0, 1, 0}, {1, 0, 0}}, .lanes = {{own_step_of(0), own_step_of(1)}}}, &problem));
  EXPECT_EQ(problem,
            "2 of 2 steps can never begin: they wait for each other, or no lane serves their pool; the first is step 0");
  EXPECT_FALSE(replay({.steps = {pooled(1)}, .links = {}, .lanes = {{}}, .pools = 1}, &problem));
}

TEST(replay, of_nothing_takes_no_time) { EXPECT_EQ(end_of({}), 0); }

// Whatever the program: links are kept, a lane does one step at a time, and nobody is idle while a step of its pool is
// ready.
TEST(replay, keeps_links_and_lanes) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const work program = random_work(seed);
    const auto result = replay(program);
    ASSERT_TRUE(result) << seed;
    const auto ends = [&](step_index at) { return result->begin_ns[at] + program.steps[at].duration_ns; };
    for (const link& entry : program.links) {
      const std::int64_t base_ns = entry.base == link_base::end ? ends(entry.from) : result->begin_ns[entry.from];
      ASSERT_GE(result->begin_ns[entry.to], base_ns + entry.latency_ns + program.steps[entry.to].lead_ns) << seed;
    }
    std::vector<step_index> order(program.steps.size());
    for (step_index at = 0; at < order.size(); ++at) order[at] = at;
    std::ranges::sort(order, {}, [&](step_index at) { return result->begin_ns[at]; });
    std::vector<std::int64_t> free(program.lanes.size(), 0);
    for (const step_index at : order) {
      ASSERT_LT(result->lane[at], program.lanes.size()) << seed;
      ASSERT_GE(result->begin_ns[at], free[result->lane[at]] + program.steps[at].lead_ns) << seed;
      free[result->lane[at]] = ends(at);
    }
    ASSERT_EQ(result->end_ns, std::ranges::max(free)) << seed;
  }
}

// A lane that is gone takes no step, and leaves the one that it was woken for to others.
TEST(replay, a_lane_serves_until_it_is_gone) {
  work program{{{10}, {10}, {10}}, {}, {{{duty_kind::serve_pool, 0, 5}}, {serve(0)}}, 1};
  for (step_index at = 0; at < 3; ++at) program.steps[at].pool = 0, program.steps[at].recorded_begin_ns = at;
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns, (std::vector<std::int64_t>{0, 0, 10}));
  EXPECT_EQ(result->lane[2], 1u);
  program.lanes.pop_back();
  EXPECT_FALSE(replay(program));
}

// Both lanes are idle when the second step becomes ready: the first of them, which is woken, is gone.
TEST(replay, a_lane_that_is_gone_wakes_another_one) {
  work program{{{20}, {10}}, {{0, 1, 0}}, {{{duty_kind::serve_pool, 0, 5}}, {serve(0)}, {own_step_of(0)}}, 1};
  program.steps[1].pool = 0;
  const auto result = replay(program);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->begin_ns[1], 20);
  EXPECT_EQ(result->lane[1], 1u);
}

// A run that was recorded as the replay says is replayed in the same time.
TEST(replay, of_a_replayed_run_is_the_same) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    work program = random_work(seed);
    const auto first = replay(program);
    ASSERT_TRUE(first);
    for (step_index at = 0; at < program.steps.size(); ++at)
      program.steps[at].recorded_begin_ns = first->begin_ns[at] - program.steps[at].lead_ns;
    const auto again = replay(program);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->end_ns, first->end_ns) << seed;
  }
}

// Links in another order, and times instead of numbers, are the same program.
TEST(replay, of_a_program_that_is_told_in_another_order_is_the_same) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    work program = random_work(seed);
    const auto first = replay(program);
    ASSERT_TRUE(first);
    std::ranges::shuffle(program.links, std::mt19937_64(seed));
    for (step& item : program.steps) item.recorded_begin_ns = 1000 + 7 * item.recorded_begin_ns;
    const auto again = replay(program);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->begin_ns, first->begin_ns) << seed;
    ASSERT_EQ(again->lane, first->lane) << seed;
  }
}

TEST(replay, a_pool_may_have_no_steps) {
  EXPECT_EQ(end_of({.steps = {{10}, {5}}, .links = {}, .lanes = {{own_step_of(0), serve(0), own_step_of(1)}}, .pools = 1}),
            15);
}

TEST(replay, takes_many_steps_of_a_pool_in_the_recorded_order) {
  work program{.steps = {}, .links = {}, .lanes = {{serve(0)}}, .pools = 1};
  constexpr step_index count = 10'000;
  for (step_index at = 0; at < count; ++at) program.steps.push_back(pooled(1, (at * std::int64_t{7919}) % count));
  const auto result = replay(program);
  ASSERT_TRUE(result);
  for (step_index at = 0; at < count; ++at) ASSERT_EQ(result->begin_ns[at], program.steps[at].recorded_begin_ns);
}

}  // namespace trimtab::diagnosis
