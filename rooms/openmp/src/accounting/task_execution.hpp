// One execution of an explicit task: how it is recorded, and what its lane comes back to at its end.
#pragma once

#include "accounting/task_dependences.hpp"
#include "accounting/task_sampling.hpp"
#include "accounting/team.hpp"

namespace trimtab::openmp {

// Where a task begins that a lane runs in a join's barrier: what it must come back to.
struct task_outside {
  ended_part late;
  team* outer_team;
  std::uint32_t outer_region;
  ticks outer_idle;
  open_loop outer_loop;
};

// How a task that is about to run is recorded.
struct task_start {
  enum class treatment : std::uint32_t { none, timed, stamped, counted };

  task_kind* kind = nullptr;
  treatment how = treatment::none;
  task_weight weight;

  // There is something to do when it ends, too.
  bool has_end() const noexcept { return how == treatment::timed || how == treatment::stamped; }
};
static_assert(sizeof(task_start) == 16, "returned in registers");

// One execution of an explicit task that has an end, kept by whoever runs it.
struct running_task {
  // What no task reads that is not recorded is left as it is: to clear it would cost more than all the rest.
  running_task() noexcept {}

  lane* on = nullptr;  // nullptr: nothing to do at its end
  task_start start;
  bool is_continued;  // a later part of an untied task
  bool is_late;       // in a join's barrier: the latest of lane_state::late_tasks
  task_context around;
  std::uint64_t id;
  std::uint64_t outer_id;
  std::uint64_t left_task;  // see lane_state
  task_scope outer_scope;
  ticks begin;
  ticks outer_credit;
};

}  // namespace trimtab::openmp
