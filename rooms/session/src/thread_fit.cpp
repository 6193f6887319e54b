#include "thread_fit.hpp"

#include "trimtab/observe/cpu_registry.hpp"
#include "trimtab/steer/fitting/tunables.hpp"

namespace trimtab::session {

namespace {

template <class options>
options with_tunables(const steering_options& chosen) {
  options made;
  steer::set_tunables(chosen.thread_tunables, made);
  return made;
}

}  // namespace

std::unique_ptr<openmp::thread_steering> steer_threads(const steering_options& chosen, steer::board& knobs,
                                                       steer::decision_record& record) {
  if (chosen.threads == thread_policy::off || chosen.threads == thread_policy::regions) return nullptr;
  using evaluated = openmp::thread_steering_options::evaluated;
  openmp::thread_steering_options options;
  options.allowed = base::allowed_cpus();
  options.includes_fixed = chosen.is_even_if_fixed;
  // The published policies know nothing of others.
  options.has_trials = chosen.threads == thread_policy::fit && chosen.how != tune::shuffle;
  if (chosen.threads == thread_policy::fit) {
    options.registry = observe::cpu_registry::default_path(chosen.runtime_directory);
    options.is_on = with_tunables<steer::fit_options>(chosen).flag;
  }
  if (chosen.threads == thread_policy::asat_v1) {
    const auto tunables = with_tunables<steer::asat_v1_options>(chosen);
    options.evaluates = evaluated::iterations;
    options.eval_time_s = tunables.eval_time_s;
    options.is_on = tunables.flag;
  }
  if (chosen.threads == thread_policy::asat_v2) {
    const auto tunables = with_tunables<steer::asat_v2_options>(chosen);
    options.evaluates = evaluated::barrier;
    options.eval_time_s = tunables.eval_time_s;
    options.is_on = tunables.flag;
  }
  return std::make_unique<openmp::thread_steering>(knobs, record, options);
}

}  // namespace trimtab::session
