// Numbers of threads as the user consents to having them fitted: what the adapter of the policy needs.
#pragma once

#include <memory>

#include "options.hpp"
#include "trimtab/openmp/thread_steering.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/record.hpp"

namespace trimtab::session {

// nullptr without consent, and where each region has a number of its own. While the library loads: the CPUs of the process
// are those of the calling thread.
std::unique_ptr<openmp::thread_steering> steer_threads(const steering_options& chosen, steer::board& knobs,
                                                       steer::decision_record& record);

}  // namespace trimtab::session
