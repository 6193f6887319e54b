#pragma once

#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

struct cpu_times {
  bool is_valid = false;
  std::uint64_t busy = 0;    // user, nice, system, irq, softirq (guests are in user), in clock ticks of the kernel
  std::uint64_t stolen = 0;  // by other virtual machines
  std::uint64_t idle = 0;    // and waiting for a disk
};

// Sum over the CPUs of `which` that the text of /proc/stat lists.
cpu_times cpu_times_in(const char* stat, const base::cpu_mask& cpus) noexcept;

// The same of ROOT/proc/stat.
cpu_times read_cpu_times(const char* root, const base::cpu_mask& cpus) noexcept;

}  // namespace trimtab::observe
