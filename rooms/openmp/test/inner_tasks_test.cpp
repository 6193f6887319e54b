// Tasks inside others that are only counted. Times are made up where they decide.
#include <gtest/gtest.h>

#include "steering/steered_loops.hpp"

namespace trimtab::openmp {
namespace {

using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;

void outer_function(void*) {}
void inner_function(void*) {}
char inner_taskwait;
const auto outer_task = reinterpret_cast<const void*>(outer_function);
const auto inner_task = reinterpret_cast<const void*>(inner_function);

profile_row task_row(const void* function, std::uint16_t flags) {
  return *observe::t_lane->own_row(the_recorder.subject(subject_kind::task, function, false), metric::task,
                                   observe::no_subject, flags);
}
profile_row wait_row() {
  return *observe::t_lane->own_row(the_recorder.subject(subject_kind::taskwait, &inner_taskwait, true), metric::wait,
                                   observe::no_subject, static_cast<std::uint16_t>(observe::wait_kind::taskwait));
}
void wait_inside() { const wait waited(subject_kind::taskwait, observe::wait_kind::taskwait, &inner_taskwait); }

constexpr ticks tick = 1;
ticks quick() { return static_cast<ticks>(the_recorder.ticks_of_ns(inner_tasks::quick_ns)); }

class inner_tasks_of_a_lane : public ::testing::Test {
 protected:
  void SetUp() override {
    here at;
    ASSERT_TRUE(find_here(at));
    m_state = at.state;
    m_state->inner = {};
    is_steering.store(true, std::memory_order_relaxed);
  }
  void TearDown() override {
    is_steering.store(false, std::memory_order_relaxed);
    m_state->inner = {};
  }
  // As many as are timed at once, one every `distance`.
  inner_tasks& time_some(ticks distance) {
    inner_tasks& inner = m_state->inner;
    inner.begin_timed(0);
    for (std::uint32_t i = 1; i <= inner_tasks::timed_at_once; ++i) inner.begin_timed(i * distance);
    return inner;
  }

  lane_state* m_state = nullptr;
};

TEST_F(inner_tasks_of_a_lane, are_counted_once_enough_have_been_quick) {
  EXPECT_EQ(time_some(quick() / 2).left, inner_tasks::counted_at_once);
}

TEST_F(inner_tasks_of_a_lane, are_timed_while_they_are_long) { EXPECT_EQ(time_some(2 * quick()).left, 0u); }

TEST_F(inner_tasks_of_a_lane, are_timed_where_nothing_is_steered) {
  is_steering.store(false, std::memory_order_relaxed);
  EXPECT_EQ(time_some(tick).left, 0u);
}

TEST_F(inner_tasks_of_a_lane, work_as_long_as_they_are_quick) {
  inner_tasks& inner = time_some(tick);
  const ticks now = inner.looked_at;
  inner.counted += 10;
  EXPECT_EQ(inner.work_until(now + 4 * quick()), 4 * quick());
  EXPECT_EQ(inner.left, inner_tasks::counted_at_once);
  inner.counted += 10;  // ten times as long as quick ones: somebody waits
  EXPECT_NEAR(static_cast<double>(inner.work_until(now + 104 * quick())), static_cast<double>(10 * quick()), 10);
  EXPECT_EQ(inner.left, 0u);
}

TEST_F(inner_tasks_of_a_lane, leave_their_time_to_the_task_around_them) {
  const profile_row outer_before = task_row(outer_task, observe::task_flags::counted);
  const profile_row inner_before = task_row(inner_task, observe::task_flags::counted);
  const profile_row timed_before = task_row(inner_task, 0);
  const profile_row waits_before = wait_row();
  running_task outer, inner;
  begin_task(outer, outer_task, false);
  m_state->inner.left = 100;
  for (int i = 0; i < 10; ++i) {
    begin_task(inner, inner_task, false);
    wait_inside();
    end_task(inner);
  }
  m_state->inner.left = 0;
  begin_task(inner, inner_task, false);
  end_task(inner);
  end_task(outer);
  const profile_row outer_after = task_row(outer_task, observe::task_flags::counted);
  const profile_row inner_after = task_row(inner_task, observe::task_flags::counted);
  EXPECT_EQ(outer_after.count - outer_before.count, 1u);
  EXPECT_EQ(outer_after.timed, outer_before.timed);
  EXPECT_GT(outer_after.x[3], outer_before.x[3]);
  EXPECT_EQ(inner_after.count - inner_before.count, 10u);
  EXPECT_EQ(inner_after.x[3], inner_before.x[3]);
  EXPECT_EQ(task_row(inner_task, 0).timed - timed_before.timed, 1u);
  EXPECT_EQ(wait_row().count - waits_before.count, 10u);
  EXPECT_EQ(wait_row().timed, waits_before.timed);
}

TEST_F(inner_tasks_of_a_lane, a_part_of_a_task_is_no_other_task) {
  const profile_row before = task_row(inner_task, observe::task_flags::counted);
  running_task outer, inner;
  begin_task(outer, outer_task, false);
  m_state->inner.left = 100;
  for (const bool is_continued : {false, true, true}) {
    begin_task(inner, inner_task, is_continued);
    end_task(inner);
  }
  end_task(outer);
  EXPECT_EQ(task_row(inner_task, observe::task_flags::counted).count - before.count, 1u);
}

// The wait of a timed task ran tasks that were only counted: what they cannot have taken, it waited.
TEST_F(inner_tasks_of_a_lane, a_timed_wait_is_not_lost_among_them) {
  running_task outer, inner;
  begin_task(outer, outer_task, false);
  m_state->inner.left = 100;
  const profile_row before = wait_row();
  const ticks began = base::now();
  {
    const wait waited(subject_kind::taskwait, observe::wait_kind::taskwait, &inner_taskwait);
    begin_task(inner, inner_task, false);
    end_task(inner);
    while (base::now() - began < 100 * quick()) {
    }
  }
  end_task(outer);
  EXPECT_EQ(wait_row().timed - before.timed, 1u);
  EXPECT_GE(wait_row().sum - before.sum, 95 * quick());
  EXPECT_EQ(m_state->inner.left, 0u);
}

}  // namespace
}  // namespace trimtab::openmp
