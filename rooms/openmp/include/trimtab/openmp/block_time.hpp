// How long LLVM's and Intel's runtimes let a thread that waits spin before it sleeps (KMP_BLOCKTIME, 200 ms unless set). It
// may be changed at any time: each thread that forks does so for its own teams, before the next fork. libgomp reads its
// spin count once, when it is loaded.
#pragma once

#include <cstdint>

namespace trimtab::openmp {

// From now on forks look at what is wanted. Once, before the process is steered.
void watch_block_time() noexcept;
// Milliseconds, as the program has it; below 0: no region of such a runtime was forked yet.
std::int64_t programs_block_time() noexcept;
// Whether it is noted how long threads wait, which each short region pays for: not from the beginning on.
void time_waits(bool is_enabled) noexcept;
// Outermost regions of several members that ended while it was, and how long a member waited in the mean from each to the
// next, their sum.
struct region_waits {
  std::uint64_t regions = 0;
  double seconds = 0;
};
region_waits waits_so_far() noexcept;
// In force for regions that are forked from now on. False: the program sets it itself, and that stands.
bool want_block_time(std::int64_t milliseconds) noexcept;

}  // namespace trimtab::openmp
