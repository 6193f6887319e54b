// Steering of the task runtime: the engine of the room `steer` turns the cap of workers and the grain of loops while the
// program runs. Off unless asked for, by options (options.hpp) or here:
//
//   trimtab::runtime rt({.workers = 16, .companion = trimtab::tuned({.workers = true})});
//   trimtab::runtime rt(trimtab::tuned({.workers = 16}, {.workers = true, .scheduler = true}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab {

// Who turns the cap of workers. In the order of cap_policy_words.
enum class cap_policy : std::uint8_t {
  tuner,         // searches, proves, keeps what is faster
  queue_length,  // hill climbing on the length of queues, as published
  power_limit,   // under so many watts
  fit,           // as many as there are CPUs for, while others want them, too
};
inline constexpr std::string_view cap_policy_words[] = {"tuner", "queue-length", "power-limit", "fit"};

// What is to become small.
enum class tuning_objective : std::uint8_t {
  time,
  energy,       // of the whole machine while the work runs
  energy_time,  // their product
};
// In the order of tuning_objective.
inline constexpr std::string_view tuning_objective_words[] = {"time", "energy", "energy-time"};

struct tuning_options {
  bool workers = false;    // the cap of workers
  bool grain = false;      // of loops with adaptive chunks, and of the program's own steps
  bool scheduler = false;  // the scheduling policy of runtimes that leave it open, each from its start on
  bool priority = false;   // of named kinds of task, where the scheduling policy has priorities
  cap_policy policy = cap_policy::tuner;
  tasks::policy first_scheduler = tasks::policy::local_priority;  // that the first runtime has
  double power_limit_w = 0;                                       // above 0: power_limit instead of policy
  tuning_objective objective = tuning_objective::time;            // the others need a power meter, and are `time` without
  bool print_decisions = false;                                   // to standard error, when the runtime ends

  // For tests and simulations: energy taken so far, in joules. Not set: the meters of the machine.
  std::function<std::optional<double>()> energy_j = {};
  std::string energy_source = {};  // not empty: such energy is not measured; the report says so
  // Instead of the policies that the options name.
  std::vector<std::function<std::unique_ptr<steer::policy>()>> policies = {};
  // Of each decision, and whether it could be applied; on the steering thread. Of the scheduler's: on the thread that makes
  // or ends the runtime.
  std::function<void(const steer::decision& made, const steer::subject_info& of, bool is_applied)> told = {};
  double period_s = 0.01;  // of snapshots
  double patience_s = 1;   // a policy that is called for longer is given up, and with it steering
  std::uint64_t seed = 1;
};

// For runtime_options::companion; nothing where nothing is to be tuned. Throws std::invalid_argument, which names the
// option.
std::function<std::shared_ptr<void>(tasks::runtime&)> tuned(const tuning_options& options);
// These options with that companion, beside their own, and, where their policy is not set, with what chooses it.
tasks::runtime_options tuned(tasks::runtime_options requested_options, const tuning_options& options);

// A part of a program that runs again and again, such as a time step or some of them: how much work each was, and, where it
// has a size that may be another each time (of a partition), what is best. By one thread at a time; must not outlive the
// runtime. Where nothing is tuned it costs a branch.
class tuned_steps {
 public:
  // Work is measured by them; nothing else is chosen.
  tuned_steps(tasks::runtime& owner_runtime, const std::string& name);
  // Any of these sizes, above 0, may be chosen; `initial` is among them, and kept where nothing is tuned. Where tasks are
  // found to be too small, larger ones are tried first, and smaller ones where workers are idle.
  tuned_steps(tasks::runtime& owner_runtime, const std::string& name, std::vector<std::int64_t> sizes, std::int64_t initial);
  ~tuned_steps();
  tuned_steps(const tuned_steps&) = delete;
  tuned_steps& operator=(const tuned_steps&) = delete;

  // False: the size never changes.
  bool may_change() const noexcept { return m_steps != nullptr && m_is_sized; }
  // A step begins: the size that it is to have.
  std::int64_t begin() noexcept;
  // It has ended, with so many units of work done, whatever these are as long as they are always the same.
  void end(double units) noexcept;

  struct state;  // implementation

 private:
  std::shared_ptr<state> m_steps;
  std::int64_t m_initial;
  bool m_is_sized;
};

}  // namespace trimtab
