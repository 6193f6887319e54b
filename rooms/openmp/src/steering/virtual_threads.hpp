// GCC's static loops by virtual threads. GCC works out a thread's block of such a loop in place: the outlined function asks
// for its number and for how many there are. It does the same work when it is called V times, with the numbers 0 to V-1 of V
// threads, by whichever threads there are: smaller blocks, which members take one after the other.
//
// Only functions that the launcher has checked, by their code, are run so (python/trimtab/outlined): they call nothing else
// that could ask, depend on the two answers only by their blocks, and do nothing when a block is empty. A reduction's
// partial result is combined once in each call, by the function itself: the check has seen that any number of calls gives
// the same.
// - The forker decides, and tells its members by what it hands to them: nobody needs an epoch.
// - Only teams that are forked outside of all regions.
// - Only after both questions of a function have been seen to reach our hooks, in a run of it as it was written: they may be
//   bound to somebody else.
// - A thread is virtual only while it is in such a function, so nobody else is given these answers.
#pragma once

#include <string>
#include <vector>

#include "hooks/gomp/virtual_thread.hpp"
#include "hooks/hook.hpp"
#include "steering/recording_ports.hpp"

namespace trimtab::openmp {

// False: no process-wide consent, and nothing is looked at.
extern steering_switch are_virtual_threads_allowed;

// False: not a case for here, nothing was done.
bool run_virtually(const void* return_address, gomp_function outlined, void* data, unsigned threads, unsigned flags);
void virtual_threads_after_fork() noexcept;

}  // namespace trimtab::openmp
