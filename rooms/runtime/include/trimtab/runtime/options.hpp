// Options of a task runtime from the program's arguments (--trimtab:NAME=VALUE) and the environment (TRIMTAB_NAME).
// docs/reference/options.md lists them.
#pragma once

#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab {

// The options that were given, over `defaults`; arguments come before the environment. Arguments that are understood are
// removed from argv. Throws std::invalid_argument, which names option, value and what is allowed. --trimtab:help prints the
// options and ends the program.
tasks::runtime_options options_from(int& argc, char** argv, const tasks::runtime_options& defaults = {});

}  // namespace trimtab
