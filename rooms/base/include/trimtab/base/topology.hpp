// How many CPUs this process may use: what is online, what its affinity allows, what its cgroups pay for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::base {

// A set of CPUs by number. 8192 is the most that Linux is built for.
struct cpu_mask {
  static constexpr std::size_t most = 8192;
  unsigned long bits[most / (8 * sizeof(unsigned long))] = {};
  bool has(std::size_t cpu) const noexcept {
    constexpr std::size_t width = 8 * sizeof(unsigned long);
    return cpu < most && (bits[cpu / width] >> (cpu % width) & 1) != 0;
  }
  std::uint32_t count() const noexcept;
};

// The CPUs that the calling thread may run on. False when the kernel does not say.
bool read_affinity(cpu_mask& cpus) noexcept;
// Writes the set as Linux does: "0-3,8". False when `room` bytes are too few; allocates nothing.
bool write_cpu_list(const cpu_mask& cpus, char* buffer, std::size_t room) noexcept;
// Keeps those as the process's. The first call counts: it is for the time before a runtime binds the process's first thread.
void keep_allowed_cpus() noexcept;
// Those kept, else the calling thread's; all where the kernel does not say.
cpu_mask allowed_cpus() noexcept;

struct cpu_limits {
  std::uint32_t online = 1;
  std::uint32_t affinity = 1;
  double quota = 0;      // CPUs' worth of time per period, the least over the process's cgroups; 0: no quota
  double available = 1;  // min(affinity, quota)
};

// Reads ROOT/sys, ROOT/proc/self/{cgroup,mountinfo} and allowed_cpus(). cgroup v1, v2 and both at once,
// ancestors included. What cannot be read counts as no limit. Allocates nothing.
cpu_limits read_cpu_limits(const char* root = "") noexcept;

// The domain of memory (NUMA node with CPUs, counted from 0) of each CPU below `cpus`, from ROOT/sys. Returns how many
// domains there are; 1 where the kernel does not say. Allocates nothing.
std::uint32_t read_memory_domains(std::uint32_t* domain_of_cpu, std::size_t cpus, const char* root = "") noexcept;

// The number that the kernel has for the node of memory of each CPU below `cpus`; -1: none. Returns how many nodes have
// CPUs; 0 where the kernel does not say. Allocates nothing.
std::uint32_t read_nodes_of_cpus(std::int16_t* node_of_cpu, std::size_t cpus, const char* root = "") noexcept;

// A directory of the cgroup file system, ROOT included.
struct cgroup_directory {
  char path[1600] = {};
  bool is_v2 = false;
  double quota = 0;  // that this directory sets, in CPUs; 0: none
};

// The process's own cgroup for `controller` in version 2 (always "") or 1. False when it is not mounted.
bool find_cgroup(const char* root, bool is_v2, const char* controller, cgroup_directory& directory) noexcept;

// The cgroup that limits the process's CPU time most: itself or an ancestor, either version. With no quota
// anywhere: its own. False when no cgroup that has to do with CPUs is mounted.
bool find_cpu_cgroup(const char* root, cgroup_directory& directory) noexcept;

// The quota alone, in CPUs; 0: none.
double read_cpu_quota(const char* root = "") noexcept;

}  // namespace trimtab::base
