// When a loop's measurement ends, and what it is then, without any OpenMP runtime: its answers are made up here.
#include "steering/loop_chain.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "hooks/hook.hpp"
#include "steering/steered_loops.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;
using observe::subject_kind;
using observe::wait_kind;

constinit thread_local int level = 1;
int ask_level() { return level; }
int ask_members() { return 2; }

std::unique_ptr<runtime> made_up_runtime() {
  auto fresh = std::make_unique<runtime>();
  fresh->functions[static_cast<unsigned>(symbol::omp_get_level)] = reinterpret_cast<void*>(ask_level);
  fresh->functions[static_cast<unsigned>(symbol::omp_get_num_threads)] = reinterpret_cast<void*>(ask_members);
  return fresh;
}

class loop_chain_test : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(prepare_sites());
    is_steering.store(true);
    level = 1;
    t_steered = {};
    t_steered_part = {};
    outer.of = runtime_of_outer.get();
    outer.outlined = &function[used++];
    outer.level = 1;
    outer.mode = region_mode::shared_out;
    outer.epoch = steering_epoch.load();
    begin_steered_part(outer, 0);
  }
  void TearDown() override {
    is_steering.store(false);
    t_steered = {};
    t_steered_part = {};
  }

  caller us() const { return {runtime_of_outer.get(), false}; }
  loop_site& begin(std::uint64_t trip) {
    begin_shared(us(), {schedule::dynamic, trip, 1, 0, trip, 1});
    return *t_steered.site;
  }
  void end() { end_shared(us()); }
  loop_site& run(std::uint64_t trip) {
    loop_site& site_begun = begin(trip);
    end();
    return site_begun;
  }
  // Closes what is under way, so that it took so long since it began.
  static constexpr ticks long_time = ticks{1} << 40;
  static void close() { t_steered.chain.close(t_steered.chain.begin() + long_time); }
  static bool take(loop_site& site, site_measurement& buffer) { return site.measured.take(buffer); }
  // A barrier under a made-up time would be too short to be told: what counts is whether it ends the measurement.
  static bool is_measuring() { return t_steered.chain.is_open(); }
  void pass_barrier(wait_kind reason = wait_kind::barrier) const {
    const team_barrier passed(us(), subject_kind::barrier, reason, nullptr);
  }

  static inline char function[32];
  static inline int used = 0;
  std::unique_ptr<runtime> runtime_of_outer = made_up_runtime();
  team outer{};
};

TEST_F(loop_chain_test, a_loop_lasts_until_the_teams_barrier) {
  loop_site& site = run(100);
  EXPECT_TRUE(is_measuring());
  pass_barrier();
  EXPECT_FALSE(is_measuring());
  site_measurement sample_found{};
  // It is told by itself where the machine made it long; otherwise it is gathered with the next.
  const bool was_long = take(site, sample_found);
  run(100);
  close();
  ASSERT_TRUE(take(site, sample_found));
  EXPECT_GE(sample_found.took, long_time);
  EXPECT_EQ(sample_found.iterations, was_long ? 100u : 200u);
  EXPECT_EQ(sample_found.instances, was_long ? 1u : 2u);
}

TEST_F(loop_chain_test, the_wait_inside_a_reduction_does_not_end_it) {
  run(100);
  {
    const wait reduced(subject_kind::barrier, wait_kind::reduction, nullptr);
  }
  EXPECT_TRUE(is_measuring()) << "other members may be in the loop still";
  pass_barrier();
  EXPECT_FALSE(is_measuring());
}

TEST_F(loop_chain_test, a_barrier_of_another_team_does_not_end_it) {
  run(100);
  level = 2;
  pass_barrier();
  EXPECT_TRUE(is_measuring()) << "of a region inside, nested or serialized";
  level = 1;
  const auto other = made_up_runtime();
  {
    const team_barrier passed({other.get(), false}, subject_kind::barrier, wait_kind::barrier, nullptr);
  }
  EXPECT_TRUE(is_measuring()) << "of another runtime";
  {
    const team_barrier passed({outer.of, true}, subject_kind::barrier, wait_kind::barrier, nullptr);
  }
  EXPECT_TRUE(is_measuring()) << "the runtime's own, inside a call of its";
  pass_barrier();
  EXPECT_FALSE(is_measuring());
}

TEST_F(loop_chain_test, a_loop_without_a_barrier_lasts_until_its_own_team_joins) {
  run(100);
  team inner{};
  team_joined(inner);
  EXPECT_TRUE(is_measuring());
  end_steered_part();
  team_joined(outer);
  EXPECT_FALSE(is_measuring());
}

TEST_F(loop_chain_test, loops_up_to_the_next_barrier_all_take_the_time_of_all) {
  loop_site& first = run(100);
  loop_site& second = run(300);
  EXPECT_EQ(&run(100), &first) << "the same site once more";
  close();
  site_measurement sample_found{};
  ASSERT_TRUE(take(first, sample_found));
  EXPECT_EQ(sample_found.took, long_time);
  EXPECT_EQ(sample_found.iterations, 200u);
  EXPECT_EQ(sample_found.instances, 3u) << "loops: the mean of one is a third";
  ASSERT_TRUE(take(second, sample_found));
  EXPECT_EQ(sample_found.took, long_time) << "a member that is late in the first only begins the second later";
  EXPECT_EQ(sample_found.iterations, 300u);
  EXPECT_TRUE(first.has_company.load() && second.has_company.load());
  loop_site& alone = run(500);
  close();
  EXPECT_FALSE(alone.has_company.load());
}

TEST_F(loop_chain_test, what_is_tried_of_one_is_known_of_the_others) {
  loop_site &first = run(100), &second = run(300);
  close();
  site_measurement sample_found{};
  take(first, sample_found), take(second, sample_found);
  static auto& plans = *new std::deque<loop_plan>;
  publish(first, plans.emplace_back(loop_plan{0, nullptr, 7, sharing::guided, false, 4, {}}));
  outer.epoch = steering_epoch.load();
  outer.further_ones = 3;
  begin_steered_part(outer, 0);
  run(100), run(300);
  close();
  ASSERT_TRUE(take(first, sample_found));
  EXPECT_EQ(sample_found.under, 7u);
  EXPECT_EQ(sample_found.beside, 0u);
  EXPECT_EQ(sample_found.unwatched, 0u) << "those that were not watched ran as written";
  ASSERT_TRUE(take(second, sample_found));
  EXPECT_EQ(sample_found.under, 0u);
  EXPECT_EQ(sample_found.beside, 7u);
  EXPECT_EQ(sample_found.unwatched, 0u);
}

TEST_F(loop_chain_test, what_earlier_runs_found_disturbs_nobody_beside_it) {
  loop_site &first = run(100), &second = run(300);
  close();
  site_measurement sample_found{};
  take(first, sample_found), take(second, sample_found);
  static auto& plans = *new std::deque<loop_plan>;
  publish(first, plans.emplace_back(loop_plan{0, nullptr, under_what_was_known, sharing::guided, false, 4, {}}));
  outer.epoch = steering_epoch.load();
  begin_steered_part(outer, 0);
  run(100), run(300);
  close();
  ASSERT_TRUE(take(second, sample_found));
  EXPECT_EQ(sample_found.beside, 0u);
}

TEST_F(loop_chain_test, a_loop_that_was_left_before_its_end_is_not_measured) {
  loop_site& cancelled = begin(100);
  begin_unshared(us());
  pass_barrier();
  EXPECT_FALSE(is_measuring());
  begin(100);
  loop_site& after = run(300);
  close();
  site_measurement sample_found{};
  EXPECT_FALSE(take(cancelled, sample_found));
  EXPECT_FALSE(take(after, sample_found)) << "nor is what overlaps with it";
  run(300);
  close();
  EXPECT_TRUE(take(after, sample_found));
}

TEST_F(loop_chain_test, a_team_begins_with_nothing_under_way) {
  run(100);
  begin_steered_part(outer, 0);
  EXPECT_FALSE(is_measuring()) << "its thread left the last one by pthread_exit, or longjmp";
}

TEST_F(loop_chain_test, only_the_first_thread_measures) {
  begin_steered_part(outer, 1);
  loop_site& site = run(100);
  pass_barrier();
  EXPECT_FALSE(is_measuring());
  run(100);
  pass_barrier();
  site_measurement sample_found{};
  EXPECT_FALSE(take(site, sample_found));
}

TEST_F(loop_chain_test, it_begins_where_any_member_begins) {
  loop_site& site = run(100);
  close();
  site_measurement sample_found{};
  ASSERT_TRUE(take(site, sample_found));
  std::vector<member_load> loads(loop_site::most_members);
  site.loads.store(loads.data());
  outer.forked_at = base::now();
  begin_steered_part(outer, 1);
  run(100);
  run(200);
  const ticks begun = loads[1].chain_begun.load();
  EXPECT_GE(begun, outer.forked_at);
  // The first thread comes when the other one has done all of it.
  begin_steered_part(outer, 0);
  run(100);
  const ticks late = t_steered.chain.begin() - begun;
  ASSERT_GT(late, 0u);
  close();
  ASSERT_TRUE(take(site, sample_found));
  EXPECT_EQ(sample_found.took, long_time + late);
  // What was left of an instance before is not of this one.
  outer.forked_at = base::now();
  begin_steered_part(outer, 0);
  run(100);
  close();
  ASSERT_TRUE(take(site, sample_found));
  EXPECT_EQ(sample_found.took, long_time);
  // Nor of the chain before in the same team.
  loads[1].chain_begun.store(base::now());
  run(100);
  close();
  ASSERT_TRUE(take(site, sample_found));
  loads[1].chain_begun.store(outer.forked_at);
  run(100);
  close();
  ASSERT_TRUE(take(site, sample_found));
  EXPECT_EQ(sample_found.took, long_time);
  site.loads.store(nullptr);
}

TEST_F(loop_chain_test, a_member_begins_a_chain_anew_behind_each_barrier) {
  loop_site& site = run(100);
  close();
  std::vector<member_load> loads(loop_site::most_members);
  site.loads.store(loads.data());
  begin_steered_part(outer, 1);
  run(100);
  const ticks first = loads[1].chain_begun.load();
  run(100);
  EXPECT_EQ(loads[1].chain_begun.load(), first) << "without a barrier it is the same chain";
  pass_barrier();
  run(100);
  EXPECT_GT(loads[1].chain_begun.load(), first);
  site.loads.store(nullptr);
}

TEST_F(loop_chain_test, too_many_loops_at_once_are_not_measured) {
  loop_site& first = run(100);
  // Sites of trips beyond a region's eighth are one: so regions differ here.
  team& own_team = outer;
  for (int i = 0; i < 20; ++i) {
    own_team.outlined = &function[used + i % 3];
    run(1000 + static_cast<std::uint64_t>(i));
  }
  close();
  site_measurement sample_found{};
  EXPECT_FALSE(take(first, sample_found));
}

}  // namespace
}  // namespace trimtab::openmp
