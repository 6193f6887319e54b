// The number of threads of the process's teams as a subject with a knob, where the user consents to fewer than the program
// would have: "threads", from 1 to the program's own number, and for the published policies "barrier_members" and
// "threads_if_bad". With the figures that policies of steer/fitting need, a window of them every 0.15 s, or sooner where
// members lose their CPUs. The rules are in team_sizes.hpp.
#pragma once

#include <optional>
#include <string>

#include "trimtab/base/topology.hpp"
#include "trimtab/observe/cpu_watch.hpp"
#include "trimtab/observe/lane_times.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::openmp {

struct thread_steering_options {
  // What is measured between regions (team_evaluation.hpp): asat-v1: iterations; asat-v2: barrier; the others for the
  // variants asat-v1-timed and asat-v2-reset.
  enum class evaluated { nothing, iterations, barrier, iterations_after_barrier, asked_barrier };
  evaluated evaluates = evaluated::nothing;
  double eval_time_s = 0.5;
  // More than that is bad: barrier passages, and the spread of iterations; a shorter second barrier adds a thread.
  double bad_passage_s = 0, longest_dip_s = 0, bad_spread = 0;
  std::uint32_t bad_trig = 1;  // asat-v1: bad evaluations in a row before the team takes a thread by itself
  double load_time_s = 0;      // between two readings of the load average; 0: it is not read
  int nice = 0;                // added to the nice value of each member but the primary thread
  bool is_on = true;           // until the program says otherwise (observe/program_requests.hpp)
  bool has_trials = false;     // a policy may try other numbers for some regions: the knob trial_members, for fit
  base::cpu_mask allowed{};    // CPUs of the process
  std::string registry;        // path; "": none
  // num_threads clauses and omp_set_num_threads may be brought down, too.
  bool includes_fixed = false;
  std::string root;  // of /proc and /sys; tests have their own
};

// All by the steering thread, apart from what the board calls. One in a process, while the library loads.
class thread_steering final : public steer::knob_source {
 public:
  thread_steering(steer::knob_registry& registry, const thread_steering_options& options);
  thread_steering(const thread_steering&) = delete;
  thread_steering& operator=(const thread_steering&) = delete;

  void add_to(steer::snapshot& now) override;
  // Reports why nothing was changed; gives this process's CPUs to others.
  void conclude() override;
  // In the child, teams have the size that the program chose, or that it was given before the fork.
  void after_fork() noexcept override { leave_teams(); }
  static void leave_teams() noexcept;

 private:
  void appear(steer::snapshot& now);
  std::optional<std::uint32_t> members_of_knob() const;
  bool is_in_force() const;
  void stop_evaluating();
  // Times are those of snapshots.
  void begin_window(double now_s);
  void count_window(double now_s);  // what follows the one that has ended
  bool is_window_over(double now_s);
  void end_window(double now_s);
  void evaluate(double now_s);
  void tell(steer::snapshot& now) const;
  bool is_on() const noexcept;
  bool has_published_rule() const noexcept;
  steer::subject_info describe(steer::subject_id id) const;
  void read_load(double now_s);
  void tell_evaluation(steer::snapshot& now) const;

  steer::knob_registry& m_registry;
  const thread_steering_options m_options;
  std::optional<steer::subject_id> m_subject;
  bool m_is_gone = false;
  observe::cpu_watch m_watch;
  observe::lane_times m_lanes;
  // Of the window under way.
  double m_begun_s = 0;
  std::uint32_t m_forks = 0, m_tellings = 0;  // when it began
  std::uint32_t m_members = 0;
  std::optional<double> m_delay_s;  // that members had no CPU, until it was read last
  double m_read_s = 0;              // when that is read again, since it began
  std::uint64_t m_windows = 0;
  double m_evaluated_s = 0;           // when an evaluation was asked for
  std::uint64_t m_seen = 0;           // number of the latest evaluation that the policy was told
  bool m_has_lower_priority = false;  // was asked for
  double m_load_read_s = 0, m_load = 0, m_load_readings = 0;
  std::vector<steer::figure> m_figures;  // of the latest window
};

}  // namespace trimtab::openmp
