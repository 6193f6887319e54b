// The environment of programs that the watched one starts.
#pragma once

#include "child_environment.hpp"

namespace trimtab::session {

// Called once, while the library loads; `users_values` as in child_environment.
void keep_for_children(const char* users_values) noexcept;

// What exec is to give to the program: `variables` themselves, or what is filtered from them where this process is a child
// of the watched program. Asks the system for the process's number, unless there is nothing to filter.
bool is_child_filtered() noexcept;
const child_environment& environment_for_children() noexcept;

}  // namespace trimtab::session
