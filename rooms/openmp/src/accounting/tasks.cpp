// The accounting of explicit tasks, the same for every runtime.
#include "accounting/tasks.hpp"

#include <utility>

#include "accounting/identified_tasks.hpp"
#include "accounting/task_identities.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;
namespace task_flags = observe::task_flags;
namespace task_fields = observe::task_fields;

using treatment = task_start::treatment;

namespace {

std::uint32_t task_subject(const lane_context& context, const void* function, const char* source = nullptr) noexcept {
  return subject_at(*context.state, {subject_kind::task, function, region_of_construct(*context.state), false, 0, source});
}

// nullptr: no room for another subject.
[[gnu::noinline, gnu::cold]] task_kind* meet_kind(const lane_context& context, std::uint32_t slot,
                                                  const char* source) noexcept {
  task_kind& kind = context.state->task_kinds[slot];
  const void* const function = function_of_slot(slot);
  const std::uint32_t subject = task_subject(context, function, source);
  if (subject == no_subject) return nullptr;
  kind = {};
  kind.function = function;
  kind.generation = places_generation.load(std::memory_order_relaxed);
  kind.subject = subject;
  kind.exact_row = context.on->own_row(subject, metric::task);
  return kind.exact_row == nullptr ? nullptr : &kind;
}

task_kind* kind_at(const lane_context& context, std::uint32_t slot, const char* source = nullptr) noexcept {
  task_kind* const kind = known_kind(*context.state, slot);
  return kind != nullptr ? kind : meet_kind(context, slot, source);
}

[[gnu::noinline, gnu::cold]] void make_sampled_row(lane& target, task_kind& kind) noexcept {
  constexpr auto flags = static_cast<std::uint16_t>(task_flags::counted | task_flags::sampled);
  kind.sampled_row = target.own_row(kind.subject, metric::task, no_subject, flags);
}

inline profile_row* sampled_row(const lane_context& context, task_kind& kind) noexcept {
  if (kind.sampled_row == nullptr) [[unlikely]]
    make_sampled_row(*context.on, kind);
  return kind.sampled_row;
}

}  // namespace

std::uint32_t count_created(const lane_context& context, std::uint32_t slot, const void* function,
                            const char* source) noexcept {
  if (slot == no_slot) {
    const std::uint32_t subject = task_subject(context, function, source);
    if (profile_row* const row = context.on->own_row(subject, metric::task)) row->x[task_fields::created] += 1;
    return subject;
  }
  const task_kind* const kind = kind_at(context, slot, source);
  if (kind == nullptr) return no_subject;
  kind->exact_row->x[task_fields::created] += 1;
  return kind->subject;
}

void task_created_slowly(const lane_context& context, std::uint32_t slot, const void* function, const runtime* library,
                         const char* source) noexcept {
  const std::uint32_t subject = count_created(context, slot, function, source);
  if (subject == no_subject || !the_recorder.traces()) return;
  if (has_identities(library)) {
    context.state->created_subject = subject;  // the runtime is about to tell its identity
    return;
  }
  record_unnamed(context, subject, library);
}

void record_unnamed(const lane_context& context, std::uint32_t subject, const runtime* library) noexcept {
  tasks_are_unnamed(library);
  context.on->record(event_kind::task_created, subject, 0, 0, 0, base::now());
  context.on->count_hook(1);
}

void pattern_created(const lane_context& context, const void* function) noexcept {
  const std::uint32_t subject = task_subject(context, function);
  if (profile_row* const row = context.on->own_row(subject, metric::task);
      row != nullptr && row->x[task_fields::created] > 0)
    row->x[task_fields::created] -= 1;
  context.state->created_subject = no_subject;
}

taskloop_call::taskloop_call(const lane_context& context, const void* function) noexcept
    : m_context(context), m_outer(std::exchange(context.state->taskloop_subject, task_subject(context, function))) {}

taskloop_call::~taskloop_call() {
  if (observe::t_lane == m_context.on) m_context.state->taskloop_subject = m_outer;
}

namespace {

// In a join's barrier the lane enters the part again that it has just ended, for as long as the task runs.
void enter_ended_part(lane_state& state) noexcept {
  task_outside& late = state.late_tasks[state.late];
  state.late += 1;
  late.late = state.ended;
  late.outer_team = state.innermost;
  late.outer_region = state.region;
  late.outer_idle = state.idle;
  late.outer_loop = state.loop;
  state.ended = {};
  state.innermost = late.late.of;
  t_short_regions = {};
  state.region = late.late.of->subject;
  state.idle = 0;
  state.loop.row = nullptr;
}

void leave_ended_part(lane_state& state, ticks inclusive) noexcept {
  state.late -= 1;
  const task_outside& late = state.late_tasks[state.late];
  late.late.slot->late_work += inclusive > state.idle ? inclusive - state.idle : 0;
  state.ended = late.late;
  state.innermost = late.outer_team;
  t_short_regions = {};
  state.region = late.outer_region;
  state.idle = late.outer_idle;
  state.loop = late.outer_loop;
}

ticks longest_quick() noexcept { return static_cast<ticks>(the_recorder.ticks_of_ns(task_sampling::longest_quick_ns)); }

// What was in the stretch since the last look and is longer than the sample's tasks stand for.
ticks gap_until(const lane_state& state, ticks now) noexcept {
  const task_sampling& sampling = state.sampling;
  const ticks waited =
      now - sampling.looked_at < state.idle - sampling.idle_at_look ? 0 : state.idle - sampling.idle_at_look;
  const ticks took = now - sampling.looked_at - waited;
  const double quick_task = the_recorder.ticks_of_ns(task_sampling::quick_ns);
  const auto quick = static_cast<ticks>(quick_task * (sampling.since_look > 1 ? sampling.since_look : 1));
  return took > quick + longest_quick() ? took - quick : 0;
}

// Divides what passed in the stretch since the last look. Long work goes to the kind whose task began last.
void look(lane_state& state, ticks now, profile_row* kind) noexcept {
  task_sampling& sampling = state.sampling;
  const ticks gap = gap_until(state, now);
  const ticks waiting = sampling.waiting_until(now, state.idle);
  if (gap > waiting && kind != nullptr) kind->x[task_fields::estimate] += gap - waiting;
  if (waiting == 0) return;
  if (state.innermost != nullptr) state.idle += waiting;
  sampling.idle_at_look = state.idle;
  if (sampling.wait_row != nullptr) sampling.wait_row->sum += waiting;
}

[[gnu::noinline]] void look_in_stretch(lane& target, lane_state& state, task_kind& kind) noexcept {
  look(state, base::now(), sampled_row({&target, &state}, kind));
  target.count_hook(1);
}

// Its time counts as work: of the wait that runs it, or, in a join's barrier, of the part just ended. Tasks
// inside it count with it.
void begin_with_clock(running_task& task, const lane_context& context) noexcept {
  lane_state& state = *context.state;
  task.outer_credit = state.task_credit;
  task.is_late = state.late < lane_state::max_late && state.ended.is_unjoined();
  if (task.is_late) enter_ended_part(state);
  task.begin = base::now();
}

void begin_timed(running_task& task, const lane_context& context) noexcept {
  lane_state& state = *context.state;
  task.id = state.scheduled_task == state.begun_task ? 0 : state.scheduled_task;  // the former: of another runtime
  task.outer_id = std::exchange(state.begun_task, state.scheduled_task);
  if (the_recorder.traces()) task.outer_scope = std::exchange(state.scope, {task.id});
  task.left_task = state.left_task;
  begin_with_clock(task, context);
  state.sampling.now = {false, task.around.is_inside, 0};
  context.on->task_begin(task.start.kind->subject, task.id, task.begin);
}

void begin_stamped(running_task& task, const lane_context& context) noexcept {
  lane_state& state = *context.state;
  begin_with_clock(task, context);
  if (!task.around.is_inside) state.sampling.begin_stretch(task.begin, state.idle);
  state.sampling.now = {true, true, task.around.waited};
  context.on->task_inside_begins(task.begin);
}

void end_timed(running_task& task, lane_state& state, ticks now) noexcept {
  const ticks waited = state.sampling.now.waited;
  task_kind& kind = *task.start.kind;
  const bool is_alone = the_recorder.traces() || task.start.weight.is_alone();
  profile_row* const row = is_alone ? kind.exact_row : sampled_row({task.on, &state}, kind);
  lane::task_time took = task.on->task_end(kind.subject, task.id, now);
  took.own = took.own > waited ? took.own - waited : 0;
  state.begun_task = task.outer_id;
  if (the_recorder.traces()) end_scope(state, task.outer_scope);
  // Not told by libomp of the last part of an untied task, if the part before it is still about to leave its thread.
  if (task.id != 0) state.scheduled_task = task.left_task;
  if (!the_recorder.traces()) state.sampling.learn(kind, took.own, waited, task.start.weight);
  lane::add_task(row, took, task.is_continued ? lane::task_part::later : lane::task_part::first);
  if (row == nullptr) return;
  if (is_alone)
    row->x[task_fields::inclusive] += took.inclusive;
  else  // a long one stands for itself: those that were not timed are found by looking at the clock
    row->x[task_fields::estimate] += took.own > longest_quick() ? took.own : took.own * task.start.weight.halves / 2;
}

}  // namespace

// Most tasks are only counted: what they need is done without a call, and nothing of it lies on the stack.
task_start start_task(std::uint32_t slot, bool is_continued) noexcept {
  lane_context context;
  if (slot == no_slot || !lookup(context)) return {};
  lane_state& state = *context.state;
  region_of_construct(state);  // the region has a construct
  task_kind* const kind = kind_at(context, slot);
  if (kind == nullptr) return {};
  task_sampling& sampling = state.sampling;
  const task_weight weight = the_recorder.traces() ? task_weight{} : sampling.next_weight(*kind);
  if (sampling.now.is_inside && ++sampling.since_look >= task_sampling::looked_at_one_in)
    look_in_stretch(*context.on, state, *kind);
  if (weight.is_timed()) return {kind, treatment::timed, weight};
  if (profile_row* const row = sampled_row(context, *kind); row != nullptr && !is_continued) lane::count(row);
  return {kind, sampling.now.is_untimed ? treatment::counted : treatment::stamped, weight};
}

void begin_task(running_task& task, const task_start& start, bool is_continued) noexcept {
  task.on = nullptr;
  lane_context context;
  if (!start.has_end() || !lookup(context)) return;
  task.on = context.on;
  task.start = start;
  task.is_continued = is_continued;
  task.around = context.state->sampling.now;
  if (start.how == treatment::timed)
    begin_timed(task, context);
  else
    begin_stamped(task, context);
}

void begin_identified_task(running_task& task, const task_start& start, std::uint64_t identity) noexcept {
  lane_context context;
  if (start.has_end() && lookup(context)) context.state->left_task = std::exchange(context.state->scheduled_task, identity);
  begin_task(task, start, false);
}

void end_task(running_task& task) noexcept {
  if (task.on == nullptr || observe::t_lane != task.on) return;
  auto& state = *static_cast<lane_state*>(task.on->adapter);
  const ticks now = base::now(), inclusive = now - task.begin;
  if (task.start.how == treatment::timed) {
    end_timed(task, state, now);
  } else {
    task.on->task_inside_ends(now);
    if (!task.around.is_inside) look(state, now, sampled_row({task.on, &state}, *task.start.kind));
  }
  state.sampling.now = task.around;
  task.on->count_hook(2);
  // Waits inside the task were already taken off the part's work.
  state.task_credit = task.outer_credit + inclusive;
  if (task.is_late) leave_ended_part(state, inclusive);
}

}  // namespace trimtab::openmp
