#include "thread_fit.hpp"

#include "trimtab/observe/cpu_registry.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"

namespace trimtab::session {

namespace {

template <class options>
options with_tunables(const steering_options& chosen) {
  options options_made;
  steer::set_tunables(chosen.thread_tunables, options_made);
  return options_made;
}

using openmp::thread_steering_options;
using evaluated = thread_steering_options::evaluated;

void add(const steer::asat_v1_options& tunables, thread_steering_options& target) {
  target.evaluates = evaluated::iterations;
  target.is_on = tunables.flag;
  target.bad_spread = tunables.bad_spread;
  target.bad_trig = tunables.bad_trig;
  target.load_time_s = tunables.load_time_s;
  target.nice = static_cast<int>(tunables.nice);
}

void add(const steer::asat_v2_options& tunables, thread_steering_options& target) {
  target.evaluates = evaluated::barrier;
  target.is_on = tunables.flag;
  target.eval_time_s = tunables.eval_time_s;
  target.bad_passage_s = tunables.bad_time_s;
  target.longest_dip_s = tunables.longest_dip_s();
  target.nice = static_cast<int>(tunables.nice);
}

void add(const steer::asat_v1_timed_options& tunables, thread_steering_options& target) {
  target.evaluates = evaluated::iterations_after_barrier;
  target.is_on = tunables.flag;
  target.eval_time_s = tunables.eval_time_s;
}

void add(const steer::asat_v2_reset_options& tunables, thread_steering_options& target) {
  target.evaluates = evaluated::asked_barrier;
  target.is_on = tunables.flag;
  target.eval_time_s = tunables.eval_time_s;
}

}  // namespace

std::unique_ptr<openmp::thread_steering> steer_threads(const steering_options& chosen, steer::knob_registry& registry) {
  if (!chosen.fits_threads()) return nullptr;
  openmp::thread_steering_options options;
  options.allowed = base::allowed_cpus();
  options.includes_fixed = chosen.is_even_if_fixed;
  // The published policies know nothing of others.
  options.has_trials = chosen.threads == thread_policy::fit && chosen.how != tuning_mode::shuffle;
  switch (chosen.threads) {
    case thread_policy::asat_v1:
      add(with_tunables<steer::asat_v1_options>(chosen), options);
      break;
    case thread_policy::asat_v2:
      add(with_tunables<steer::asat_v2_options>(chosen), options);
      break;
    case thread_policy::asat_v1_timed:
      add(with_tunables<steer::asat_v1_timed_options>(chosen), options);
      break;
    case thread_policy::asat_v2_reset:
      add(with_tunables<steer::asat_v2_reset_options>(chosen), options);
      break;
    default:
      options.registry = observe::cpu_registry::default_path(chosen.runtime_directory);
      options.is_on = with_tunables<steer::fit_options>(chosen).flag;
  }
  return std::make_unique<openmp::thread_steering>(registry, options);
}

}  // namespace trimtab::session
