// A policy of the user's in another process (`trimtab run --policy FILE.py`) in the place of the searches of an engine here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trimtab/steer/outside_policy.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::task_steering {

steer::policy_description describe_outside(const std::string& file);

// engine: unlike any other of this process; it names the files.
std::unique_ptr<steer::outside_policy> make_outside(const steer::policy_description& described, const std::string& engine,
                                                    std::function<std::string(const steer::subject_info&)> key_of);

// What it has answered in the latest step, for a replay. Either may be nullptr.
void record_answers(steer::outside_policy* from, steer::recording_writer* writer);

}  // namespace trimtab::task_steering
