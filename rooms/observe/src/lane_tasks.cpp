// Tasks of a lane, and the state of the worker that it is.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

void lane::task_begin(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept {
  const std::uint32_t depth = m_task_depth++;
  if (depth < max_tasks) m_tasks[depth] = {task, subject, at, 0};
  record(event_kind::task_begin, subject, 0, task, 0, at);
}

lane::task_time lane::end_part(base::ticks at) noexcept {
  const std::uint32_t depth = --m_task_depth;
  if (depth >= max_tasks) return {};
  const open_task& ended = m_tasks[depth];
  const base::ticks inclusive = at - ended.begin;
  if (depth > 0) m_tasks[depth - 1].inner += inclusive;
  return {true, inclusive, inclusive > ended.inner ? inclusive - ended.inner : 0};
}

lane::task_time lane::task_end(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept {
  if (m_task_depth == 0) return {};
  const task_time ended = end_part(at);
  record(event_kind::task_end, subject, 0, task, 0, at);
  return ended;
}

base::ticks lane::task_ends(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept {
  if (m_task_depth == 0) return 0;
  const task_time ended = task_end(subject, task, at);
  profile_row* const row = own_row(subject, metric::task);
  add_task(row, ended);
  if (row != nullptr) row->x[task_fields::inclusive] += ended.inclusive;
  return ended.inclusive;
}

void lane::add_task(profile_row* row, const task_time& took, task_part part) noexcept {
  if (row == nullptr) return;
  if (part == task_part::later)
    row->sum += took.own;
  else if (took.is_known)
    add(row, took.own);
  else
    count(row);
}

void lane::task_inside_begins(base::ticks at) noexcept {
  const std::uint32_t depth = m_task_depth++;
  if (depth < max_tasks) m_tasks[depth] = {0, no_subject, at, 0};
}

void lane::task_inside_ends(base::ticks at) noexcept {
  if (m_task_depth == 0) return;
  end_part(at);
  // The two readings are a clock read longer than what lies between them, which the tasks that are only counted have not.
  if (m_task_depth > 0 && m_task_depth <= max_tasks) m_tasks[m_task_depth - 1].inner += m_owner->clock_read();
}

void lane::task_suspended(std::uint32_t subject, std::uint64_t task, wait_cause reason, std::uint64_t awaited,
                          base::ticks at) noexcept {
  record(event_kind::task_suspended, subject, static_cast<std::uint16_t>(reason), task, awaited, at);
  if (m_task_depth == 0) return;
  const task_time ended = end_part(at);
  profile_row* const row = own_row(subject, metric::task);
  if (row == nullptr) return;
  row->sum += ended.own;
  row->x[task_fields::inclusive] += ended.inclusive;
  row->x[task_fields::suspensions] += 1;
}

void lane::task_resumed(std::uint32_t subject, std::uint64_t task, wait_cause reason, base::ticks waited,
                        base::ticks at) noexcept {
  profile_row* const row = own_row(subject, metric::suspended, no_subject, static_cast<std::uint16_t>(reason));
  if (waited != 0)
    add(row, waited);
  else if (row != nullptr)
    row->count += 1;
  if (!m_owner->traces()) return;
  const std::uint32_t depth = m_task_depth++;
  if (depth < max_tasks) m_tasks[depth] = {task, subject, at, 0};
  record(event_kind::task_resumed, subject, static_cast<std::uint16_t>(reason), task, waited, at);
}

void lane::tasks_ran(std::uint32_t subject, const batch& tasks_done) noexcept {
  const std::uint16_t flags =
      static_cast<std::uint16_t>(task_flags::counted | (tasks_done.is_inclusive ? task_flags::inclusive : std::uint16_t{0}));
  profile_row* const row = own_row(subject, metric::task, no_subject, flags);
  if (row == nullptr) return;
  const std::uint64_t before = row->sum;
  const bool was_timed = row->timed > 0;
  for (std::uint32_t i = 0; i < tasks_done.timed; ++i) add(row, tasks_done.ticks[i]);
  // `add` has counted those that were timed. One that took long may have been among those told of before.
  row->count += tasks_done.ran - tasks_done.timed;
  row->x[task_fields::created] += tasks_done.made;
  if (tasks_done.is_inclusive) row->x[task_fields::inclusive] += row->sum - before;
  row->x[task_fields::suspensions] += tasks_done.suspended;
  const auto scaled = [](std::uint64_t sum, std::uint64_t count, std::uint64_t timed) {
    return static_cast<std::uint64_t>(static_cast<double>(sum) * static_cast<double>(count) / static_cast<double>(timed));
  };
  std::uint64_t& estimate = row->x[task_fields::estimate];
  // Each batch stands for its own tasks, since the distance between timed ones differs from batch to batch. But the times of
  // tasks that wait come when they end, in a later batch than the one that counts them: then all stand for all.
  if (tasks_done.timed > tasks_done.ran || (tasks_done.timed > 0 && !was_timed))
    estimate = scaled(row->sum, row->count, row->timed);
  else if (tasks_done.timed > 0)
    estimate += scaled(row->sum - before, tasks_done.ran, tasks_done.timed);
  else if (was_timed)
    estimate += scaled(row->sum, tasks_done.ran, row->timed);
  count_hook(2 * tasks_done.timed);
}

void lane::worker_begins(std::uint32_t subject, std::uint32_t number, base::ticks at) noexcept {
  m_header->worker_of = subject + 1;
  m_header->worker = number;
  worker_enters(worker_state::runs, at);
}

void lane::worker_enters(worker_state next, base::ticks at) noexcept {
  if (m_header->worker_of == 0 || next == m_state) return;
  const std::uint32_t runtime = m_header->worker_of - 1;
  if (m_state == worker_state::runs) m_owner->work_leave(at);
  if (m_state_row != nullptr) {
    profile_row& row = *m_state_row;
    const base::ticks took = at - m_state_since;
    const base::ticks busy = m_owner->worked_until(at);
    row.x[worker_fields::while_busy] +=
        std::min(m_state == worker_state::runs              ? took
                 : busy > row.x[worker_fields::busy_before] ? busy - row.x[worker_fields::busy_before]
                                                            : 0,
                 took);
    row.x[worker_fields::since] = 0;
    add(&row, took);
  }
  m_state = next;
  m_state_since = at;
  m_state_row = nullptr;
  record(event_kind::worker_state, runtime, static_cast<std::uint16_t>(next), m_header->worker, 0, at);
  count_hook(1);
  if (next == worker_state::runs) m_owner->work_enter(at);
  if (next == worker_state::none) return;
  m_state_row = own_row(runtime, metric::worker, no_subject, static_cast<std::uint16_t>(next));
  if (m_state_row == nullptr) return;
  m_state_row->x[worker_fields::since] = at;
  m_state_row->x[worker_fields::busy_before] = m_owner->worked_until(at);
}

void lane::name(const char* title) noexcept { std::snprintf(m_header->title, sizeof m_header->title, "%s", title); }

}  // namespace trimtab::observe
