// The accounting of explicit tasks, the same for every runtime.
#include <utility>

#include "ompt.hpp"
#include "steering/steered_loops.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;
namespace task_flags = observe::task_flags;

void inner_tasks::begin_timed(ticks now) noexcept {
  const bool is_outer = open++ == 0;
  if (!is_steering.load(std::memory_order_relaxed) || the_recorder.traces()) return;
  if (is_outer) {
    looked_at = now;
    looked_for = counted;
    return;
  }
  if (timed == 0) timed_since = now;
  if (++timed < timed_at_once) return;
  timed = 0;
  if (static_cast<double>(now - timed_since) > the_recorder.ticks_of_ns(quick_ns * timed_at_once)) return;
  left = counted_at_once;
  looked_at = now;
  looked_for = counted;
}

ticks inner_tasks::work_until(ticks now) noexcept {
  const auto ticks_of = [](double tasks) { return static_cast<ticks>(the_recorder.ticks_of_ns(quick_ns * tasks)); };
  const ticks took = now - looked_at, most = ticks_of(static_cast<double>(counted - looked_for));
  looked_at = now;
  looked_for = counted;
  if (took > ticks_of(looked_at_one_in)) left = 0;  // they have become longer, or one of them waited
  return took < most ? took : most;
}

namespace {

std::uint32_t task_subject(const here& at, const void* function, const char* source = nullptr) noexcept {
  return subject_at(*at.state, subject_kind::task, function, false, 0, region_of_construct(*at.state), source);
}

profile_row* counted_row(const here& at, const void* function, const char* source = nullptr) noexcept {
  const std::uint32_t region = region_of_construct(*at.state);
  return row_of(at, {subject_kind::task, function, false, region, metric::task, no_subject, task_flags::counted}, source);
}

// The lane is in a task that is only counted; returns whether it was in one before.
bool enter_counted(const here& at) noexcept {
  inner_tasks& inner = at.state->inner;
  inner.left -= 1;
  inner.counted += 1;
  if (inner.counted % inner_tasks::looked_at_one_in == 0) at.state->task_credit += inner.work_until(base::now());
  return std::exchange(inner.is_in_counted, true);
}

void begin_counted(running_task& task, const here& at, const void* function) noexcept {
  task.on = at.on;
  task.is_counted = true;
  task.was_in_counted = enter_counted(at);
  if (task.is_continued) return;  // one task, though in several parts
  if (profile_row* const row = counted_row(at, function)) lane::count(row);
}

}  // namespace

counted_task::counted_task(const here& at, const void* function) noexcept : m_at(at), m_was_in_counted(enter_counted(at)) {
  profile_row* const row = counted_row(at, function);
  if (row == nullptr) return;
  lane::count(row);
  row->x[0] += 1;
}

counted_task::~counted_task() {
  if (observe::t_lane == m_at.on) m_at.state->inner.is_in_counted = m_was_in_counted;
}

void task_created(const void* function, const runtime* of, const char* source) noexcept {
  here at;
  if (!find_here(at)) return;
  if (at.state->inner.is_next_counted()) {
    if (profile_row* const row = counted_row(at, function, source)) row->x[0] += 1;
    return;
  }
  const std::uint32_t subject = task_subject(at, function, source);
  if (profile_row* const row = at.on->own_row(subject, metric::task)) row->x[0] += 1;
  if (!the_recorder.traces()) return;
  if (has_identities(of)) {
    at.state->created_subject = subject;  // the runtime is about to tell its identity
    return;
  }
  tasks_are_unnamed(of);
  at.on->record(event_kind::task_created, subject, 0, 0, 0, base::now());
  at.on->count_hook(1);
}

void pattern_created(const here& at, const void* function) noexcept {
  const std::uint32_t subject = task_subject(at, function);
  if (profile_row* const row = at.on->own_row(subject, metric::task); row != nullptr && row->x[0] > 0) row->x[0] -= 1;
  at.state->created_subject = no_subject;
}

taskloop_call::taskloop_call(const here& at, const void* function) noexcept
    : m_at(at), m_outer(std::exchange(at.state->taskloop_subject, task_subject(at, function))) {}

taskloop_call::~taskloop_call() {
  if (observe::t_lane == m_at.on) m_at.state->taskloop_subject = m_outer;
}

namespace {

// In a join's barrier the lane enters the part again that it has just ended, for as long as the task runs.
void enter_ended_part(running_task& task, lane_state& state) noexcept {
  task.late = state.ended;
  task.outer_team = state.innermost;
  task.outer_region = state.region;
  task.outer_idle = state.idle;
  task.outer_loop = state.loop;
  state.ended = {};
  state.innermost = task.late.of;
  t_proven = {};
  state.region = task.late.of->subject;
  state.idle = 0;
  state.loop.row = nullptr;
}

void leave_ended_part(running_task& task, lane_state& state, ticks inclusive) noexcept {
  task.late.slot->late_work += inclusive > state.idle ? inclusive - state.idle : 0;
  state.ended = task.late;
  state.innermost = task.outer_team;
  t_proven = {};
  state.region = task.outer_region;
  state.idle = task.outer_idle;
  state.loop = task.outer_loop;
}

}  // namespace

// Its time counts as work: of the wait that runs it, or, in a join's barrier, of the part just ended. Tasks
// inside it count with it.
void begin_task(running_task& task, const void* function, bool is_continued) noexcept {
  task.on = nullptr;
  here at;
  if (!find_here(at)) return;
  lane_state& state = *at.state;
  task.is_continued = is_continued;
  if (state.inner.is_next_counted()) return begin_counted(task, at, function);
  task.subject = task_subject(at, function);
  if (task.subject == no_subject) return;
  task.on = at.on;
  task.is_counted = false;
  task.was_in_counted = std::exchange(state.inner.is_in_counted, false);
  task.counted_before = state.inner.counted;
  task.id = state.scheduled_task == state.begun_task ? 0 : state.scheduled_task;  // the former: of another runtime
  task.outer_id = std::exchange(state.begun_task, task.id);
  task.left_task = state.left_task;
  task.outer_credit = state.task_credit;
  task.late = {};
  if (state.ended.is_unjoined()) enter_ended_part(task, state);
  const ticks now = base::now();
  state.inner.begin_timed(now);
  at.on->task_begin(task.subject, task.id, now);
}

void end_task(running_task& task) noexcept {
  if (task.on == nullptr || observe::t_lane != task.on) return;
  auto& state = *static_cast<lane_state*>(task.on->adapter);
  state.inner.is_in_counted = task.was_in_counted;
  if (task.is_counted) return;
  const bool has_counted = state.inner.counted != task.counted_before;
  const ticks inclusive = task.on->task_end(task.subject, task.id, base::now(), has_counted);
  if (state.inner.open > 0) state.inner.open -= 1;
  task.on->count_hook(2);
  state.begun_task = task.outer_id;
  // Not told by libomp of the last part of an untied task, if the part before it is still about to leave its thread.
  if (task.id != 0) state.scheduled_task = task.left_task;
  // One task, though in several parts.
  if (task.is_continued)
    if (profile_row* const row =
            task.on->own_row(task.subject, metric::task, no_subject, has_counted ? task_flags::counted : std::uint16_t{0}))
      row->count -= 1;
  // Waits inside the task were already taken off the part's work.
  state.task_credit = task.outer_credit + inclusive;
  if (task.late.slot != nullptr) leave_ended_part(task, state, inclusive);
}

}  // namespace trimtab::openmp
