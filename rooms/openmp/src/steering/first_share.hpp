// With how many members a program's first region begins where other programs fit their threads to the same CPUs: with its
// share of them. Until the first window of figures is over it would be in everybody's way, and their regions in its.
#pragma once

#include <cstdint>
#include <string>

#include "trimtab/base/topology.hpp"

namespace trimtab::openmp {

struct first_share {
  std::uint32_t others = 0;  // other programs in the registry; 0: there is no share
  std::uint32_t cpus = 0;
};

// While the library loads, in a program that is linked with a runtime: others learn of it, as of one thread, which it is.
void announce(const std::string& registry, const base::cpu_mask& allowed);

// The first region begins, of `own` members. Once: some tens of us of system calls.
void take_first_share(std::uint32_t own_share) noexcept;

// What was taken, by the steering thread.
first_share taken_share() noexcept;
// The program fits its threads no more.
void leave_share() noexcept;

}  // namespace trimtab::openmp
