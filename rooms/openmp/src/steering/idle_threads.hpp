// Threads that a smaller team leaves over: they must not spin on, which would take the CPU that was to be free.
// - libgomp ends them itself, except for a team of one: then it is asked to.
// - LLVM's and Intel's runtimes keep them, and they spin for as long as their block time says, which they had from the last
//   team that they were in. Where it is infinite, no block time that is set puts any thread to sleep. So it is made finite,
//   and they are in one more team, which does nothing, that tells them to sleep at once.
//
// By the first forker alone, outside of all regions.
#pragma once

#include "runtimes/runtimes.hpp"

namespace trimtab::openmp {

// The runtime keeps threads for so many members, since a team of that size was forked.
void pool_has(std::uint32_t members) noexcept;
// The next team has no more than so many; own: as many as it would have had.
void shrink_pool(const caller& from, std::uint32_t members, std::uint32_t own_count) noexcept;

}  // namespace trimtab::openmp
