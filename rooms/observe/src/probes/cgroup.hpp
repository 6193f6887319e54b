#pragma once

#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

struct throttling {
  bool is_valid = false;
  std::uint64_t periods = 0;       // in which something ran
  std::uint64_t throttled = 0;     // of those, stopped by the quota
  std::uint64_t throttled_us = 0;  // summed over CPUs
};

// DIRECTORY/cpu.stat of either version.
throttling read_throttling(const base::cgroup_directory& from) noexcept;

}  // namespace trimtab::observe
