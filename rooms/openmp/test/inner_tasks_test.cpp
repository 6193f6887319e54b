// Which tasks are timed, and how the time of those that are not is divided. Times are made up where they decide.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "accounting/tasks.hpp"
#include "accounting/waits.hpp"
#include "recorded_names.hpp"

namespace trimtab::openmp {
namespace {

namespace task_flags = observe::task_flags;
namespace task_fields = observe::task_fields;

void outer_function(void*) {}
void inner_function(void*) {}
char inner_taskwait;
const auto sampled = static_cast<std::uint16_t>(task_flags::counted | task_flags::sampled);

ticks ticks_of(double ns) { return static_cast<ticks>(the_recorder.ticks_of_ns(ns)); }
void spin(ticks amount) {
  for (const ticks began = base::now(); base::now() - began < amount;) {
  }
}

std::uint32_t slot_of(gomp_function function) { return thunk_of(function).slot; }
profile_row task_row(gomp_function function, std::uint16_t flags) {
  const std::uint32_t subject = the_recorder.subject(subject_kind::task, reinterpret_cast<const void*>(function), false);
  return *observe::t_lane->own_row(subject, metric::task, observe::no_subject, flags);
}
profile_row wait_row() {
  return *observe::t_lane->own_row(the_recorder.subject(subject_kind::taskwait, &inner_taskwait, true), metric::wait,
                                   observe::no_subject, static_cast<std::uint16_t>(observe::wait_kind::taskwait));
}

class inner_tasks_of_a_lane : public ::testing::Test {
 protected:
  void SetUp() override {
    lane_context context;
    ASSERT_TRUE(lookup(context));
    m_state = context.state;
    m_state->sampling = {};
    for (const gomp_function each : {outer_function, inner_function}) kind_of(each) = {};
  }
  void TearDown() override { m_state->sampling = {}; }

  task_kind& kind_of(gomp_function function) { return m_state->task_kinds[slot_of(function)]; }
  // As if the warm-up were over: the next `gap - 1` tasks of that kind are not timed.
  void make_quick(gomp_function function, std::uint32_t gap, ticks mean) {
    running_task task;
    begin_task(task, start_task(slot_of(function), false), false);
    end_task(task);
    task_kind& kind = kind_of(function);
    kind.timed = task_sampling::warm_up;
    kind.recent = 1;
    kind.recent_ticks = mean;
    kind.gap = kind.until_timed = gap;
  }
  template <class body>
  void run(gomp_function function, body body_inside) {
    running_task task;
    begin_task(task, start_task(slot_of(function), false), false);
    body_inside();
    end_task(task);
  }

  lane_state* m_state = nullptr;
};

TEST_F(inner_tasks_of_a_lane, are_all_timed_at_first_and_while_they_are_long) {
  task_sampling sampling{};
  task_kind kind{};
  for (int i = 0; i < 1000; ++i) {
    const task_weight weight = sampling.next_weight(kind);
    ASSERT_TRUE(weight.is_timed()) << i;
    EXPECT_TRUE(weight.is_alone());
    sampling.learn(kind, ticks_of(2 * task_sampling::long_ns), 0, weight);
  }
}

// Exact within what chance allows: the estimate is compared with its own standard error, over many seeds.
TEST_F(inner_tasks_of_a_lane, the_estimate_of_a_kind_is_unbiased) {
  constexpr int runs = 200, tasks = 5000;
  double sum_of_errors = 0, sum_of_squares = 0;
  double timed = 0;
  for (int seed = 0; seed < runs; ++seed) {
    std::mt19937 generator(static_cast<unsigned>(seed));
    std::exponential_distribution<double> length(1.0 / 400.0);
    task_sampling sampling{};
    sampling.random = 1 + static_cast<std::uint64_t>(seed);
    task_kind kind{};
    double truth = 0, estimate = 0;
    for (int i = 0; i < tasks; ++i) {
      const ticks took = ticks_of(length(generator));
      truth += static_cast<double>(took);
      const task_weight weight = sampling.next_weight(kind);
      if (!weight.is_timed()) continue;
      timed += 1;
      estimate += static_cast<double>(took) * weight.halves / 2;
      sampling.learn(kind, took, 0, weight);
    }
    const double error = estimate / truth - 1;
    sum_of_errors += error;
    sum_of_squares += error * error;
  }
  const double mean = sum_of_errors / runs, deviation = std::sqrt(sum_of_squares / runs);
  EXPECT_LT(std::abs(mean), 4 * deviation / std::sqrt(double{runs}));
  EXPECT_LT(deviation, 0.15);
  EXPECT_LT(timed, runs * tasks / 10);
  EXPECT_GT(timed, runs * tasks / 50);
}

TEST_F(inner_tasks_of_a_lane, what_cannot_have_waited_is_work) {
  task_sampling sampling{};
  sampling.waited = sampling.worked = 1;
  sampling.begin_stretch(0, 0);
  sampling.since_look = 1;
  EXPECT_EQ(sampling.waiting_until(ticks_of(1e6), 0), 0u);
}

TEST_F(inner_tasks_of_a_lane, quick_ones_waited_as_those_that_were_timed) {
  task_sampling sampling{};
  sampling.waited = 1000;
  sampling.worked = 3000;
  sampling.begin_stretch(0, 0);
  sampling.since_look = task_sampling::looked_at_one_in;
  sampling.has_waits = true;
  EXPECT_NEAR(static_cast<double>(sampling.waiting_until(ticks_of(64'000), 0)), the_recorder.ticks_of_ns(16'000), 10);
}

// What is longer than 64 quick tasks was a wait, unless long tasks have been seen.
TEST_F(inner_tasks_of_a_lane, a_gap_is_divided_as_the_long_ones_that_were_timed) {
  task_sampling sampling{};
  const double quick = task_sampling::longest_quick_ns, all = quick + 1e6;
  const auto divided = [&] {
    sampling.begin_stretch(0, 0);
    sampling.since_look = task_sampling::looked_at_one_in;
    sampling.has_waits = true;
    return static_cast<double>(sampling.waiting_until(ticks_of(all), 0));
  };
  EXPECT_NEAR(divided(), the_recorder.ticks_of_ns(1e6), 10);
  sampling.long_worked = 3 * the_recorder.ticks_of_ns(quick);
  EXPECT_NEAR(divided(), the_recorder.ticks_of_ns(0.25e6), 10);
}

TEST_F(inner_tasks_of_a_lane, what_others_have_timed_is_not_divided_again) {
  task_sampling sampling{};
  sampling.begin_stretch(0, 100);
  sampling.since_look = 1;
  sampling.has_waits = true;
  EXPECT_EQ(sampling.waiting_until(ticks_of(1e6), 100 + ticks_of(1e6)), 0u);
}

// The outer one is timed, those directly inside it are stamped, and those inside these are only counted.
TEST_F(inner_tasks_of_a_lane, none_is_lost_and_the_outer_one_has_only_its_own_time) {
  make_quick(inner_function, 1000, ticks_of(300));
  const profile_row inner_before = task_row(inner_function, sampled);
  const profile_row outer_before = task_row(outer_function, 0);
  const ticks long_one = ticks_of(200'000);
  run(outer_function, [&] {
    for (int i = 0; i < 5; ++i)
      run(inner_function, [&] {
        spin(long_one);
        run(inner_function, [&] { run(inner_function, [] {}); });
      });
  });
  const profile_row inner_after = task_row(inner_function, sampled);
  const profile_row outer_after = task_row(outer_function, 0);
  EXPECT_EQ(inner_after.count - inner_before.count, 15u);
  EXPECT_EQ(inner_after.timed, inner_before.timed);
  EXPECT_EQ(outer_after.timed - outer_before.timed, 1u);
  EXPECT_LT(outer_after.sum - outer_before.sum, long_one);
  EXPECT_GE(outer_after.x[task_fields::inclusive] - outer_before.x[task_fields::inclusive], 5 * long_one);
}

// Where the thread loses its CPU meanwhile, what took that long stands for itself: then once more.
TEST_F(inner_tasks_of_a_lane, one_that_is_timed_stands_for_the_gaps_around_it) {
  const ticks each = ticks_of(10'000), too_long = ticks_of(task_sampling::longest_quick_ns);
  bool is_undisturbed = false;
  for (int i = 0; i < 1000 && !is_undisturbed; ++i) {
    make_quick(inner_function, 3, ticks_of(2 * task_sampling::long_ns));  // then all are timed
    const profile_row before = task_row(inner_function, sampled);
    const ticks began = base::now();
    for (int j = 0; j < 3; ++j) run(inner_function, [&] { spin(each); });
    is_undisturbed = base::now() - began < too_long;
    const profile_row after = task_row(inner_function, sampled);
    EXPECT_EQ(after.count - before.count, 3u);
    EXPECT_EQ(after.timed - before.timed, 1u);
    if (is_undisturbed) {  // gaps of 3 and 1
      EXPECT_EQ(after.x[task_fields::estimate] - before.x[task_fields::estimate], 2 * (after.sum - before.sum));
    }
  }
  EXPECT_TRUE(is_undisturbed);
}

TEST_F(inner_tasks_of_a_lane, a_part_of_a_task_is_no_other_task) {
  make_quick(inner_function, 1000, ticks_of(300));
  const profile_row before = task_row(inner_function, sampled);
  for (const bool is_continued : {false, true, true}) {
    running_task part;
    begin_task(part, start_task(slot_of(inner_function), is_continued), is_continued);
    end_task(part);
  }
  EXPECT_EQ(task_row(inner_function, sampled).count - before.count, 1u);
}

TEST_F(inner_tasks_of_a_lane, parts_of_a_task_are_timed_as_one) {
  const profile_row before = task_row(inner_function, 0);
  const ticks long_one = ticks_of(20'000);
  for (const bool is_continued : {false, true, true}) {
    running_task part;
    begin_task(part, start_task(slot_of(inner_function), is_continued), is_continued);
    spin(long_one);
    end_task(part);
  }
  const profile_row after = task_row(inner_function, 0);
  EXPECT_EQ(after.count - before.count, 1u);
  EXPECT_EQ(after.timed - before.timed, 1u);
  EXPECT_GE(after.sum - before.sum, 3 * long_one);
}

// No sample could tell how many such there are: each is found, and stands for itself.
TEST_F(inner_tasks_of_a_lane, long_ones_among_quick_ones_are_found_whether_timed_or_not) {
  const ticks long_one = ticks_of(3 * task_sampling::longest_quick_ns);
  for (const std::uint32_t gap : {1000u, 1u}) {
    make_quick(inner_function, gap, ticks_of(300));
    kind_of(inner_function).gap = 7;
    const profile_row before = task_row(inner_function, sampled);
    const ticks began = base::now();
    run(inner_function, [&] { spin(long_one); });
    const ticks took = base::now() - began;
    const profile_row after = task_row(inner_function, sampled);
    EXPECT_EQ(after.timed - before.timed, gap == 1 ? 1u : 0u);
    EXPECT_GE(after.x[task_fields::estimate] - before.x[task_fields::estimate],
              long_one - ticks_of(task_sampling::quick_ns));
    EXPECT_LE(after.x[task_fields::estimate] - before.x[task_fields::estimate], took);
  }
}

// The wait of a timed task ran others: what these took it did not wait, and what it waited is not its own time.
TEST_F(inner_tasks_of_a_lane, a_timed_wait_is_exact) {
  make_quick(inner_function, 1000, ticks_of(300));
  const profile_row before = wait_row(), outer_before = task_row(outer_function, 0);
  const ticks long_one = ticks_of(300'000);
  run(outer_function, [&] {
    const wait waited(subject_kind::taskwait, observe::wait_kind::taskwait, &inner_taskwait);
    run(inner_function, [&] { spin(long_one); });
    spin(2 * long_one);
  });
  const ticks waited = wait_row().sum - before.sum;
  EXPECT_EQ(wait_row().timed - before.timed, 1u);
  EXPECT_GE(waited, 2 * long_one);
  EXPECT_GE(task_row(outer_function, 0).x[task_fields::inclusive] - outer_before.x[task_fields::inclusive],
            waited + long_one);
  EXPECT_LT(task_row(outer_function, 0).sum - outer_before.sum, long_one);
}

// A long wait among counted tasks is found, though it is not timed.
TEST_F(inner_tasks_of_a_lane, a_wait_among_counted_ones_is_found) {
  make_quick(inner_function, 1000, ticks_of(300));
  const profile_row before = wait_row();
  const ticks long_one = ticks_of(2'000'000);
  run(inner_function, [&] {
    run(inner_function, [&] {
      const wait waited(subject_kind::taskwait, observe::wait_kind::taskwait, &inner_taskwait);
      spin(long_one);
    });
  });
  EXPECT_EQ(wait_row().count - before.count, 1u);
  EXPECT_EQ(wait_row().timed, before.timed);
  EXPECT_GE(wait_row().sum - before.sum, long_one - ticks_of(4 * task_sampling::quick_ns));
}

}  // namespace
}  // namespace trimtab::openmp
