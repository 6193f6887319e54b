// Tasks and workers of a lane: rows and events against cases worked out by hand. Ticks are made up.
#include <thread>

#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

constexpr std::uint32_t runtime = 3, task = 5;

profile_row row_of(open_recorder& recorder, metric what, std::uint16_t flags = 0) {
  for (const profile_row& each : records_of<profile_row>(bytes_of(recorder.file("lane-0000.profile"))))
    if (each.what == what && each.flags == flags) return each;
  return {};
}
profile_row row_of(open_recorder& recorder, worker_state state) {
  return row_of(recorder, metric::worker, static_cast<std::uint16_t>(state));
}

TEST(lane_tasks, a_suspended_task_is_one_task_in_two_parts) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace);
  lane* const mine = recorder->open_lane();
  mine->task_begin(task, 7, 100);
  EXPECT_EQ(mine->task_here(), 7u);
  mine->task_suspended(task, 7, wait_cause::future, 8, 150);
  EXPECT_EQ(mine->task_here(), 0u);
  mine->task_resumed(task, 7, wait_cause::future, 50, 200);
  EXPECT_EQ(mine->task_here(), 7u);
  EXPECT_EQ(mine->task_ends(task, 7, 230), 30u);
  const profile_row tasks = row_of(recorder, metric::task);
  EXPECT_EQ(tasks.count, 1u);
  EXPECT_EQ(tasks.sum, 80u);
  EXPECT_EQ(tasks.x[task_fields::inclusive], 80u);
  EXPECT_EQ(tasks.x[task_fields::suspensions], 1u);
  const profile_row waits = row_of(recorder, metric::suspended, static_cast<std::uint16_t>(wait_cause::future));
  EXPECT_EQ(waits.count, 1u);
  EXPECT_EQ(waits.sum, 50u);
  const auto events = records_of<event>(bytes_of(recorder.file("lane-0000.events")));
  ASSERT_EQ(events.size(), 5u);  // thread_begin first
  EXPECT_EQ(events[2].kind, static_cast<std::uint16_t>(event_kind::task_suspended));
  EXPECT_EQ(events[2].arg, static_cast<std::uint16_t>(wait_cause::future));
  EXPECT_EQ(events[2].b, 8u);
  EXPECT_EQ(events[3].b, 50u);
}

TEST(lane_tasks, time_of_what_ran_inside_is_taken_out_of_each_part) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace);
  lane* const mine = recorder->open_lane();
  mine->task_begin(task, 1, 0);
  mine->task_begin(task + 1, 2, 10);
  mine->task_ends(task + 1, 2, 40);
  mine->task_suspended(task, 1, wait_cause::mutex, 0, 60);
  mine->task_resumed(task, 1, wait_cause::mutex, 0, 100);
  mine->task_ends(task, 1, 105);
  const profile_row outer = row_of(recorder, metric::task);
  EXPECT_EQ(outer.subject, task + 1);  // made first, by the inner one's end
  EXPECT_EQ(outer.sum, 30u);
  const auto rows = records_of<profile_row>(bytes_of(recorder.file("lane-0000.profile")));
  EXPECT_EQ(rows[1].sum, 30u + 5u);
  EXPECT_EQ(rows[1].x[task_fields::inclusive], 60u + 5u);
  // How long it was suspended was not told.
  const profile_row waits = row_of(recorder, metric::suspended, static_cast<std::uint16_t>(wait_cause::mutex));
  EXPECT_EQ(waits.count, 1u);
  EXPECT_EQ(waits.timed, 0u);
}

TEST(lane_tasks, at_profile_level_only_the_time_of_suspensions_is_kept) {
  scratch_run run;
  open_recorder recorder(run, record_level::profile);
  lane* const mine = recorder->open_lane();
  mine->task_resumed(task, 0, wait_cause::channel, 70, 200);
  EXPECT_EQ(mine->task_here(), 0u);
  EXPECT_EQ(row_of(recorder, metric::suspended, static_cast<std::uint16_t>(wait_cause::channel)).sum, 70u);
  EXPECT_EQ(records_of<event>(bytes_of(recorder.file("lane-0000.events"))).size(), 1u);  // thread_begin
}

TEST(lane_tasks, each_batch_stands_for_its_own_tasks) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks of_short[2] = {10, 30}, of_long[1] = {1000};
  lane::batch told;
  told.made = 3;
  told.ran = 100;
  told.ticks = of_short;
  told.timed = 2;
  mine->tasks_ran(task, told);  // 100 of 20
  told = {.ran = 1, .suspended = 4, .ticks = of_long, .timed = 1};
  mine->tasks_ran(task, told);  // one of 1000
  told = {.ran = 3};
  mine->tasks_ran(task, told);  // three, as long as those that were timed: 1040 / 3
  const profile_row row = row_of(recorder, metric::task, task_flags::counted);
  EXPECT_EQ(row.count, 104u);
  EXPECT_EQ(row.timed, 3u);
  EXPECT_EQ(row.sum, 1040u);
  EXPECT_EQ(row.x[task_fields::created], 3u);
  EXPECT_EQ(row.x[task_fields::suspensions], 4u);
  EXPECT_EQ(row.x[task_fields::estimate], 2000u + 1000u + 1040u);
}

TEST(lane_tasks, a_task_timed_after_it_was_told_of_is_counted_once) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks inner = 10, outer = 50;
  mine->tasks_ran(task, {.ran = 2, .ticks = &inner, .timed = 1});
  mine->tasks_ran(task, {.ticks = &outer, .timed = 1, .is_inclusive = true});
  const auto both = static_cast<std::uint16_t>(task_flags::counted | task_flags::inclusive);
  EXPECT_EQ(row_of(recorder, metric::task, task_flags::counted).count + row_of(recorder, metric::task, both).count, 2u);
  EXPECT_EQ(row_of(recorder, metric::task, both).x[task_fields::inclusive], 50u);
}

TEST(lane_tasks, times_that_come_after_their_tasks_were_counted_stand_for_these) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks times[] = {300, 500};
  mine->tasks_ran(task, {.ran = 10});
  EXPECT_EQ(row_of(recorder, metric::task, task_flags::counted).x[task_fields::estimate], 0u);
  mine->tasks_ran(task, {.ticks = times, .timed = 1});
  EXPECT_EQ(row_of(recorder, metric::task, task_flags::counted).x[task_fields::estimate], 3000u);
  mine->tasks_ran(task, {.ticks = times + 1, .timed = 1});
  const profile_row row = row_of(recorder, metric::task, task_flags::counted);
  EXPECT_EQ(row.count, 10u);
  EXPECT_EQ(row.x[task_fields::estimate], 4000u);
}

TEST(lane_tasks, the_first_times_stand_for_the_batches_before_too) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks took = 40;
  mine->tasks_ran(task, {.ran = 6});
  mine->tasks_ran(task, {.ran = 4, .ticks = &took, .timed = 1});
  EXPECT_EQ(row_of(recorder, metric::task, task_flags::counted).x[task_fields::estimate], 400u);
}

TEST(worker, its_time_goes_to_the_state_that_it_was_in) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks start = recorder->clock().ticks_0;
  mine->worker_begins(runtime, 4, start + 1600);
  mine->worker_enters(worker_state::looks, start + 3200);
  mine->worker_enters(worker_state::idle, start + 4800);
  mine->worker_enters(worker_state::idle, start + 4816);  // no change
  mine->worker_enters(worker_state::runs, start + 8000);
  mine->worker_enters(worker_state::none, start + 9600);
  EXPECT_EQ(row_of(recorder, worker_state::runs).sum, 3200u);
  EXPECT_EQ(row_of(recorder, worker_state::runs).x[worker_fields::while_busy], 3200u);
  EXPECT_EQ(row_of(recorder, worker_state::runs).count, 2u);
  EXPECT_EQ(row_of(recorder, worker_state::looks).sum, 1600u);
  EXPECT_EQ(row_of(recorder, worker_state::idle).sum, 3200u);
  // Alone: while it did not run, no other did.
  EXPECT_EQ(row_of(recorder, worker_state::looks).x[worker_fields::while_busy], 0u);
  EXPECT_EQ(row_of(recorder, worker_state::idle).x[worker_fields::while_busy], 0u);
  EXPECT_EQ(row_of(recorder, worker_state::idle).x[worker_fields::since], 0u);
  EXPECT_EQ(recorder->process().parallel_ticks, 3200u);
  EXPECT_EQ(mine->header().worker, 4u);
  EXPECT_EQ(mine->header().worker_of, runtime + 1);
}

TEST(worker, parked_while_another_runs_is_told_apart) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks start = recorder->clock().ticks_0;
  mine->worker_begins(runtime, 0, start + 160);
  mine->worker_enters(worker_state::idle, start + 1600);
  recorder->work_enter(start + 3200);  // another one
  recorder->work_leave(start + 4800);
  recorder->work_enter(start + 6400);
  mine->worker_enters(worker_state::runs, start + 8000);
  const profile_row parked = row_of(recorder, worker_state::idle);
  EXPECT_EQ(parked.sum, 6400u);
  EXPECT_EQ(parked.x[worker_fields::while_busy], 3200u);
}

TEST(worker, the_state_of_a_killed_one_says_since_when) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const base::ticks start = recorder->clock().ticks_0;
  mine->worker_begins(runtime, 0, start + 160);
  EXPECT_EQ(row_of(recorder, worker_state::runs).x[worker_fields::since], start + 160);
  mine->worker_enters(worker_state::capped, start + 320);
  EXPECT_EQ(row_of(recorder, worker_state::runs).x[worker_fields::since], 0u);
  EXPECT_EQ(row_of(recorder, worker_state::capped).x[worker_fields::since], start + 320);
  EXPECT_EQ(row_of(recorder, worker_state::capped).x[worker_fields::busy_before], 160u);
}

TEST(worker, its_thread_that_ends_ends_it) {
  scratch_run run;
  open_recorder recorder(run);
  lane* mine = recorder->open_lane();
  mine->name("a title that is longer than the forty bytes there are");
  mine->worker_begins(runtime, 0, base::now());
  EXPECT_STREQ(mine->header().title, "a title that is longer than the forty b");
  recorder->close_lane(*mine);
  EXPECT_EQ(row_of(recorder, worker_state::runs).count, 1u);
  EXPECT_EQ(row_of(recorder, worker_state::runs).x[worker_fields::since], 0u);
  // The next thread that has the lane is none.
  mine = recorder->open_lane();
  EXPECT_EQ(mine->header().worker_of, 0u);
  EXPECT_STREQ(mine->header().title, "");
  mine->worker_enters(worker_state::looks, base::now());
  EXPECT_EQ(row_of(recorder, worker_state::looks).count, 0u);
}

TEST(worker, none_is_active_once_all_have_ended) {
  scratch_run run;
  open_recorder recorder(run);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      lane* const mine = recorder->open_lane();
      mine->worker_begins(runtime, i, base::now());
      for (int turn = 0; turn < 2'000; ++turn) {
        mine->worker_enters(worker_state::looks, base::now());
        mine->worker_enters(worker_state::idle, base::now());
        mine->worker_enters(worker_state::runs, base::now());
      }
      recorder->close_lane(*mine);
    });
  for (std::thread& each : threads) each.join();
  const base::ticks at = base::now();
  EXPECT_EQ(recorder->worked_until(at), recorder->worked_until(at + 1'000'000));
}

}  // namespace
}  // namespace trimtab::observe::testing
