// The options of a task runtime: one table of rows, from which options_from reads, --trimtab:help prints, and the
// documentation and the command's export are made.
#pragma once

#include <span>
#include <string_view>

#include "trimtab/options/option.hpp"
#include "trimtab/runtime/tuning.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::task_steering {

// What a user has chosen, over the program's own options.
struct chosen_options {
  tasks::runtime_options runtime;
  tuning_options tuning;
  bool has_tune = false;  // also what is to be tuned
};

std::span<const options::row<chosen_options>> option_table() noexcept;

// What may be set of a power meter, behind its word and a colon.
struct meter_tunables {
  std::string_view word;
  std::span<const steer::tunable_info> tunables;
};
std::span<const meter_tunables> tunables_of_meters() noexcept;

}  // namespace trimtab::task_steering
