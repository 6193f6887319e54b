// Where communication servers run: on CPUs that no worker uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trimtab/base/topology.hpp"

namespace trimtab::parcels {

struct server_place {
  std::uint32_t cpu = 0;
  std::uint32_t domain = 0;  // of memory (NUMA)
  bool operator==(const server_place&) const = default;
};

// The CPUs of `allowed` that `workers` does not have, in the order in which servers should use them: the first of each
// domain, then the second of each, and so on. domain_of_cpu: as read_memory_domains fills it; CPUs beyond it are of domain
// 0.
std::vector<server_place> places_for_servers(const base::cpu_mask& allowed, const base::cpu_mask& workers,
                                             std::span<const std::uint32_t> domain_of_cpu);

// The same on this machine. Empty, if the workers need all CPUs that this process may use: so many that a quota of CPU time
// leaves none to servers, or bound to all of them. `workers` that are not bound are taken for users of the first CPUs.
std::vector<server_place> places_beside_workers(std::uint32_t workers, const char* root = "");

}  // namespace trimtab::parcels
