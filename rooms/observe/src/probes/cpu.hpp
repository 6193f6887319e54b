#pragma once

#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

struct cpu_times {
  bool is_valid = false;
  std::uint64_t busy = 0;    // user, nice, system, irq, softirq (guests are in user), in clock ticks of the kernel
  std::uint64_t stolen = 0;  // by other virtual machines
};

// Sum over the CPUs of `which` that ROOT/proc/stat lists.
cpu_times read_cpu_times(const char* root, const base::cpu_mask& which) noexcept;

}  // namespace trimtab::observe
