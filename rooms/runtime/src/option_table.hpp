// The options of a task runtime: one table of rows, from which options_from reads, --trimtab:help prints, and the
// documentation and the command's export are made.
#pragma once

#include <span>

#include "trimtab/options/option.hpp"
#include "trimtab/runtime/tuning.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::task_steering {

// What a user has chosen, over the program's own options.
struct chosen_options {
  tasks::runtime_options runtime;
  tuning_options tuning;
  bool has_tune = false;  // also what is to be tuned
};

std::span<const options::row<chosen_options>> option_table() noexcept;

}  // namespace trimtab::task_steering
