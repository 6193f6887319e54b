// Options of a task runtime from the program's arguments (--trimtab:NAME=VALUE) and the environment (TRIMTAB_NAME).
#pragma once

#include <span>
#include <string>

#include "trimtab/tasks/runtime.hpp"

namespace trimtab {

struct runtime_option {
  const char* name;  // --trimtab:workers=..., TRIMTAB_WORKERS
  const char* standard;
  const char* help;
  const char* variable = nullptr;  // of the environment, where it is not TRIMTAB_NAME
};

// All there are; docs/guide/tasks.md repeats them.
std::span<const runtime_option> runtime_option_table() noexcept;

// What was given, over `defaults`; arguments come before the environment. What is understood is taken out of argv.
// Throws std::invalid_argument, which names option, value and what is allowed. --trimtab:help prints the table and ends
// the program.
tasks::runtime_options options_from(int& argc, char** argv, const tasks::runtime_options& defaults = {});

}  // namespace trimtab
