// The accounting of regions without any OpenMP runtime: members are called by hand, time is made by waiting.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "accounting/tasks.hpp"
#include "accounting/waits.hpp"
#include "hooks/hook.hpp"
#include "scratch_folder.hpp"
#include "steering/wait_times.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/openmp/openmp.hpp"

namespace trimtab::openmp {
namespace {

using observe::metric;
using observe::profile_row;
using observe::the_recorder;
namespace region_fields = observe::region_fields;
namespace team_fields = observe::team_fields;

// The recorder of a process is opened once: every test of this file records into the same run.
class recording : public ::testing::Environment {
 public:
  void SetUp() override {
    m_folder.emplace();
    observe::recorder_options options;
    options.run_directory = m_folder->path().c_str();
    ASSERT_EQ(the_recorder.open(options), 0);
    attach();
  }
  void TearDown() override { m_folder.reset(); }

 private:
  std::optional<scratch_folder> m_folder;
};
const auto* const environment = ::testing::AddGlobalTestEnvironment(new recording);

void spin(ticks length) {
  const ticks begin = base::now();
  while (base::now() - begin < length) {
  }
}
constexpr ticks some_time = 200'000;

char region_b, place;
constexpr caller nobody{nullptr, false};

profile_row& team_row(const team& own_team, std::uint32_t member_lane, std::uint32_t outer = no_subject) {
  return *own_team.forker->row(own_team.subject, metric::team, member_lane, outer);
}
profile_row& region_row(const team& own_team, std::uint32_t outer = no_subject) {
  return *own_team.forker->row(own_team.subject, metric::region, own_team.forker->id(), outer);
}

TEST(counting, of_iterations_holds_over_the_whole_range) {
  EXPECT_EQ(count_of(0L, 1000L, 1), 1000u);
  EXPECT_EQ(count_of(0L, 1000L, 7), 143u);
  EXPECT_EQ(count_of(999L, -1L, -1), 1000u);
  EXPECT_EQ(count_of(5L, 5L, 1), 0u);
  EXPECT_EQ(count_of(5L, 3L, 1), 0u);
  EXPECT_EQ(count_of(std::numeric_limits<long>::min(), std::numeric_limits<long>::max(), 1),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(count_of(0ULL, ~0ULL, 1), ~std::uint64_t{0});
  EXPECT_EQ(count_of(std::numeric_limits<long>::max(), std::numeric_limits<long>::min(), std::numeric_limits<long>::min()),
            2u);
}

TEST(region, splits_the_time_of_every_lane_into_arrival_work_waits_and_join) {
  static char region;
  team shared;
  ASSERT_TRUE(fork_team(shared, nobody, &region, 2, nullptr));
  std::uint32_t worker_lane = 0;
  std::thread worker([&] {
    spin(some_time);
    member self;
    begin_member(self, shared, 1);
    spin(3 * some_time);
    {
      const wait barrier(observe::subject_kind::barrier, observe::wait_kind::barrier, &place);
      spin(2 * some_time);
    }
    end_member(self, shared);
    worker_lane = observe::t_lane->id();
  });
  member self;
  begin_member(self, shared, 0);
  end_member(self, shared);
  worker.join();
  join_team(shared);

  const profile_row& row = team_row(shared, worker_lane);
  const profile_row& whole = region_row(shared);
  EXPECT_EQ(row.count, 1u);
  EXPECT_GE(row.sum, 3 * some_time);
  EXPECT_GE(row.x[team_fields::arrival], some_time);
  EXPECT_GE(row.x[team_fields::inner_wait], 2 * some_time);
  EXPECT_EQ(whole.x[region_fields::threads], 2u);
  EXPECT_EQ(row.sum + row.x[team_fields::join_wait] + row.x[team_fields::arrival] + row.x[team_fields::inner_wait],
            whole.sum);
  const profile_row& own_row = team_row(shared, shared.forker->id());
  EXPECT_EQ(
      own_row.sum + own_row.x[team_fields::join_wait] + own_row.x[team_fields::arrival] + own_row.x[team_fields::inner_wait],
      whole.sum);
  EXPECT_GE(whole.x[region_fields::slowest_work], row.sum);
}

// A region of two members, one of which works for so long.
void run_uneven_region(ticks work) {
  static char region;
  team shared;
  ASSERT_TRUE(fork_team(shared, nobody, &region, 2, nullptr));
  std::thread worker([&] {
    member self;
    begin_member(self, shared, 1);
    end_member(self, shared);
  });
  worker.join();
  member self;
  begin_member(self, shared, 0);
  spin(work);
  end_member(self, shared);
  join_team(shared);
}

TEST(region, tells_how_long_a_member_waits_in_the_mean_also_for_the_next_region) {
  const ticks before = waits_per_member;
  run_uneven_region(some_time);
  EXPECT_EQ(wait_passages, 0u) << "nobody asks";
  time_waits(true);
  run_uneven_region(20 * some_time);
  EXPECT_EQ(wait_passages, 1u);
  const ticks waits_now = waits_per_member - before;
  EXPECT_GE(waits_now, 10 * some_time);
  spin(40 * some_time);
  run_uneven_region(20 * some_time);
  EXPECT_EQ(wait_passages, 2u);
  EXPECT_GE(waits_per_member - before - waits_now, (10 + 20) * some_time);
  time_waits(false);
  spin(40 * some_time);
  time_waits(true);
  const ticks so_far = waits_per_member;
  const ticks begin = base::now();
  run_uneven_region(0);
  EXPECT_LE(waits_per_member - so_far, base::now() - begin) << "how long nobody looked is no wait";
  time_waits(false);
}

TEST(region, takes_the_overhead_of_an_inner_one_off_the_outer_work_but_not_its_work) {
  static char region;
  team outer, inner;
  ASSERT_TRUE(fork_team(outer, nobody, &region, 1, nullptr));
  const profile_row before = region_row(outer);
  member in_outer, in_inner;
  begin_member(in_outer, outer, 0);
  ASSERT_TRUE(fork_team(inner, nobody, &region_b, 4, nullptr));
  EXPECT_EQ(inner.level, 2u);
  spin(some_time);
  begin_member(in_inner, inner, 0);
  spin(2 * some_time);
  end_member(in_inner, inner);
  spin(some_time);
  join_team(inner);
  end_member(in_outer, outer);
  join_team(outer);
  const profile_row& row = team_row(outer, outer.forker->id());
  EXPECT_GE(row.x[team_fields::inner_wait], 2 * some_time);
  EXPECT_EQ(region_row(outer).count, before.count + 1);
  EXPECT_EQ(region_row(inner, outer.subject).x[region_fields::threads], 1u);
  EXPECT_GE(team_row(inner, inner.forker->id(), outer.subject).sum, 2 * some_time);
}

bool task_has_region = false;
void a_task(void*) {
  spin(2 * some_time);
  const wait taskwait(observe::subject_kind::taskwait, observe::wait_kind::taskwait, &place);
  spin(some_time);
}
void a_task_with_a_region(void*) {
  team inner;
  task_has_region = fork_team(inner, nobody, &region_b, 1, nullptr);
  if (!task_has_region) return;
  EXPECT_EQ(inner.level, 2u);
  member self;
  begin_member(self, inner, 0);
  spin(some_time);
  end_member(self, inner);
  join_team(inner);
}

TEST(tasks, of_the_joins_barrier_are_work_and_their_waits_are_not) {
  static char region;
  team shared;
  ASSERT_TRUE(fork_team(shared, nobody, &region, 1, nullptr));
  member self;
  begin_member(self, shared, 0);
  end_member(self, shared);
  thunk_of(gomp_function{a_task}).run(nullptr);
  thunk_of(gomp_function{a_task_with_a_region}).run(nullptr);
  thunk_of(gomp_function{a_task}).run(nullptr);
  join_team(shared);
  EXPECT_TRUE(task_has_region);
  const profile_row& row = team_row(shared, shared.forker->id());
  EXPECT_GE(row.sum, 5 * some_time);
  EXPECT_GE(row.x[team_fields::join_wait], 2 * some_time);
  EXPECT_EQ(row.sum + row.x[team_fields::join_wait] + row.x[team_fields::arrival] + row.x[team_fields::inner_wait],
            region_row(shared).sum);

  // After the join the team is gone: a task of another region is nothing of its.
  const ticks known_time = row.sum;
  thunk_of(gomp_function{a_task}).run(nullptr);
  EXPECT_EQ(row.sum, known_time);
}

TEST(tasks, inside_a_barrier_are_taken_off_the_wait) {
  static char region;
  team shared;
  ASSERT_TRUE(fork_team(shared, nobody, &region, 1, nullptr));
  member self;
  begin_member(self, shared, 0);
  const ticks before = base::now();
  {
    const wait barrier(observe::subject_kind::barrier, observe::wait_kind::barrier, &place);
    thunk_of(gomp_function{a_task}).run(nullptr);
  }
  const ticks in_barrier = base::now() - before;
  end_member(self, shared);
  join_team(shared);
  const profile_row& row = team_row(shared, shared.forker->id());
  EXPECT_GE(row.sum, 2 * some_time);
  EXPECT_GE(row.x[team_fields::inner_wait], some_time);
  EXPECT_LE(row.x[team_fields::inner_wait], in_barrier - 2 * some_time);
}

TEST(tasks, keep_their_thunk) {
  EXPECT_EQ(thunk_of(gomp_function{a_task}).run, thunk_of(gomp_function{a_task}).run);
  EXPECT_NE(thunk_of(gomp_function{a_task}).run, thunk_of(gomp_function{a_task_with_a_region}).run);
}

TEST(lane, is_fresh_for_the_next_thread_after_one_that_ended_inside_a_region) {
  static char region;
  std::thread([] {
    static team never_joined;
    member self;
    ASSERT_TRUE(fork_team(never_joined, nobody, &region, 8, nullptr));
    begin_member(self, never_joined, 0);
  }).join();
  std::thread([] {
    lane_context context;
    ASSERT_TRUE(lookup(context));
    EXPECT_EQ(context.state->innermost, nullptr);
    EXPECT_EQ(context.state->slots_used, 0u);
    EXPECT_EQ(context.state->region, no_subject);
  }).join();
}

TEST(loop, counts_iterations_and_chunks_once_per_lane) {
  static char region, loop_place;
  team shared;
  ASSERT_TRUE(fork_team(shared, nobody, &region, 1, nullptr));
  member self;
  begin_member(self, shared, 0);
  lane_context context;
  ASSERT_TRUE(lookup(context));
  begin_loop(context, {observe::schedule::dynamic, 3, 10, 1, &loop_place});
  for (const std::uint64_t taken : {3, 3, 3, 1}) take_chunk(context, 0, taken);
  end_loop(context);
  end_loop(context);
  const profile_row* const row = context.on->own_row(context.state->loop.subject, metric::loop, shared.subject,
                                                     static_cast<std::uint16_t>(observe::schedule::dynamic));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 1u);
  EXPECT_EQ(std::vector<std::uint64_t>(row->x, row->x + 4), (std::vector<std::uint64_t>{10, 4, 3, 10}));
  end_member(self, shared);
  join_team(shared);
}

TEST(caller, in_an_object_without_a_runtime_is_nobody_and_keeps_its_place) {
  thread_uses(nullptr);  // nor has this thread used one
  const caller found_caller = caller_at(&place, entry::gomp);
  EXPECT_EQ(found_caller.of, nullptr);
  EXPECT_FALSE(found_caller.is_internal);
}

}  // namespace
}  // namespace trimtab::openmp
