// The cap of workers as a knob of a runtime, and what is measured of it: the time that one unit of work takes. Units are
// tasks, where nothing better is known; the runs of loops and steps, whose tasks depend on who is free, tell their own.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "cost_meter.hpp"
#include "power_meter.hpp"
#include "trimtab/observe/thread_times.hpp"
#include "trimtab/steer/snapshot.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::task_steering {

// What workers did between two looks, in seconds.
struct work_done {
  double elapsed_s = 0;
  double busy_s = 0;       // of all workers
  double most_busy_s = 0;  // of one
  std::uint64_t tasks = 0;
  double joules = 0;  // as cost_meter
};

work_done done_between(const tasks::snapshot& before, const tasks::snapshot& now);

// Of all that a runtime has done since `first`: what advised_policies asks for. Empty: nothing.
std::vector<steer::figure> figures_of_life(const tasks::runtime& owner_runtime, const tasks::snapshot& first);

// Part of the time in which somebody worked: that of the busiest, or, where work goes from one to the other, of all.
double work_share(const work_done& work) noexcept;

// Joins what was done, idle time left out, until it is enough for a measurement.
class work_window {
 public:
  // shortest_s: what is shorter is joined; never less than the meter needs.
  std::optional<steer::measurement> add(const work_done& work, steer::decision_number decision_number,
                                        const cost_meter& costs, double shortest_s = 0) noexcept;
  void forget() noexcept { m_used = {}, m_tasks = 0; }

 private:
  steer::decision_number m_under = 0;
  resources m_used;
  double m_tasks = 0;
};

class worker_cap {
 public:
  static constexpr std::string_view knob = "workers";
  static constexpr double least_work = 0.25;  // of a look's time; below it there is no work

  worker_cap(tasks::runtime& owner_runtime, steer::subject_id id, std::string name, const energy_source& energy_j = {},
             tuning_objective objective = tuning_objective::time);

  const steer::subject_info& info() const noexcept { return m_info; }
  bool turn(steer::knob_value to);
  void in_force(steer::decision_number number) noexcept { m_under.store(number, std::memory_order_release); }
  steer::decision_number under() const noexcept { return m_under.load(std::memory_order_acquire); }

  // A loop or step that began under `under` has ended: seconds, and its cost over what it was at first. Any thread.
  void ran(steer::decision_number decision_number, double seconds, double ratio) noexcept;

  // Since the look before; on the steering thread.
  steer::subject_state look();
  // The program has set the cap itself: it is the program's from then on.
  bool is_taken_over() const noexcept { return m_of.active_workers() != m_cap.load(std::memory_order_relaxed); }

  // Of the whole run.
  std::vector<steer::figure> summary() const;
  // Most of the work was in loops and steps.
  bool is_mostly_told() const;
  bool has_meter() const noexcept { return m_power.is_there(); }
  cost_meter& costs() noexcept { return m_costs; }

 private:
  struct times {
    base::ticks at = 0, busy = 0, looking = 0;  // of all workers
    observe::thread_times of_threads;
  };
  static times read_times(const tasks::snapshot& now);
  void look_around(std::vector<steer::figure>& figures, const tasks::snapshot& now);

  tasks::runtime& m_of;
  steer::subject_info m_info;
  const double m_cpus;
  std::atomic<std::uint32_t> m_cap;
  std::atomic<steer::decision_number> m_under{0};
  power_meter m_power;
  cost_meter m_costs;
  double m_joules_before;
  tasks::snapshot m_first, m_before;
  work_window m_window;
  struct {
    std::uint32_t cap;
    std::optional<times> first;  // under this cap
    times before;
    std::optional<double> delay_share;  // nothing: not known of this cap
    double cpu_share, workless_share;
  } m_around;
  double m_work_s = 0;

  mutable std::mutex m_lock;  // of the following
  double m_told_s = 0;        // by `ran`
  steer::measurement m_joined;
  std::vector<steer::measurement> m_told;
};

}  // namespace trimtab::task_steering
