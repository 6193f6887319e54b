// Where the pages of the program's memory come from, on machines with several nodes of memory.
#pragma once

namespace trimtab::session {

// From now on pages that this thread, and threads that it starts, touch first come from all nodes in turn. Not where the
// user has chosen something else (numactl). Returns whether it is so. Two or three system calls.
bool interleave_memory() noexcept;

}  // namespace trimtab::session
