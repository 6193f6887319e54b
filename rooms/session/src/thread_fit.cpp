#include "thread_fit.hpp"

#include "trimtab/observe/cpu_registry.hpp"
#include "trimtab/steer/fitting/asat_v1.hpp"
#include "trimtab/steer/fitting/asat_v2.hpp"
#include "trimtab/steer/fitting/fit.hpp"

namespace trimtab::session {

std::unique_ptr<openmp::thread_steering> steer_threads(const steering_options& chosen, steer::board& knobs,
                                                       steer::decision_record& record) {
  if (chosen.threads == thread_policy::off || chosen.threads == thread_policy::regions) return nullptr;
  using evaluated = openmp::thread_steering_options::evaluated;
  openmp::thread_steering_options options;
  options.allowed = base::allowed_cpus();
  options.includes_fixed = chosen.is_even_if_fixed;
  // The published policies know nothing of others.
  options.has_trials = chosen.threads == thread_policy::fit && chosen.how != tune::shuffle;
  if (chosen.threads == thread_policy::fit) options.registry = observe::cpu_registry::default_path(chosen.runtime_directory);
  if (chosen.threads == thread_policy::asat_v1) options.evaluates = evaluated::iterations;
  if (chosen.threads == thread_policy::asat_v2) options.evaluates = evaluated::barrier;
  return std::make_unique<openmp::thread_steering>(knobs, record, options);
}

void add_thread_policy(const steering_options& chosen, steer::engine& to) {
  if (chosen.how == tune::shuffle) return;
  if (chosen.threads == thread_policy::fit) to.add(std::make_unique<steer::fit>());
  if (chosen.threads == thread_policy::asat_v1) to.add(std::make_unique<steer::asat_v1>());
  if (chosen.threads == thread_policy::asat_v2) to.add(std::make_unique<steer::asat_v2>());
}

}  // namespace trimtab::session
