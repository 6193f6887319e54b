// Numbers of threads as the user consents to having them fitted: what the adapter of the policy needs.
#pragma once

#include <memory>

#include "options.hpp"
#include "trimtab/openmp/thread_steering.hpp"

namespace trimtab::session {

// nullptr without consent, and where each region has a number of its own. While the library loads: the CPUs of the process
// are those of the calling thread.
std::unique_ptr<openmp::thread_steering> steer_threads(const steering_options& chosen, steer::knob_registry& registry);

}  // namespace trimtab::session
