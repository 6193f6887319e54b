// How many CPUs this process may use: what is online, what its affinity allows, what its cgroups pay for.
#pragma once

#include <cstdint>

namespace trimtab::base {

struct cpu_limits {
  std::uint32_t online = 1;
  std::uint32_t affinity = 1;
  double quota = 0;      // CPUs' worth of time per period, the least over the process's cgroups; 0: no quota
  double available = 1;  // min(affinity, quota)
};

// Reads ROOT/sys, ROOT/proc/self/{cgroup,mountinfo} and sched_getaffinity. cgroup v1, v2 and both at once,
// ancestors included. What cannot be read counts as no limit. Allocates nothing.
cpu_limits read_cpu_limits(const char* root = "") noexcept;

// The quota alone, in CPUs; 0: none.
double read_cpu_quota(const char* root = "") noexcept;

}  // namespace trimtab::base
