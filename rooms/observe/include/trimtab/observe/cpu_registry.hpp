// Which processes of this user fit their threads to this machine, and how many CPUs each may use so that all of them
// together settle. A small file in shared memory (/dev/shm), mode 0600:
//
//   head | record | record | ...        one record a member: who it is, what it wants and uses, when it last said so
//
// It is read and written with five short system calls a beat and kept neither open nor mapped: the program may close its
// descriptors, and a file that is cut off must not end it. There is no lock. Each member writes only its own record; two
// that take the same free one see that at the next beat, and the one that lost takes another. A dead member's record counts
// for nothing and is taken by whoever needs one: it is dead when its pid is gone, or is another process's by its start time;
// one that cannot be checked (another pid namespace) when it has not beaten for 10 s. One that lives and has not beaten for
// so long is stopped, and does not count meanwhile. Nothing in the file is trusted: sizes, version, ranges and sums are
// checked; with nonsense a process does as if it were alone.
//
// One thread at a time. Nothing allocates or throws, unless it says so. In the child of a fork the next beat makes a member
// of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

// CPUs by number modulo 256: enough to see who competes for the same ones.
using cpu_fold = std::array<std::uint64_t, 4>;
cpu_fold fold(const base::cpu_mask& allowed) noexcept;

struct cpu_member {
  std::uint64_t start = 0;  // of the process, in clock ticks since boot
  std::uint32_t pid = 0;
  std::uint32_t pid_namespace = 0;  // 0: not known
  std::uint32_t wanted = 1;         // threads that it would have on an empty machine, affinity and quota counted
  double used = 0;                  // CPUs, in the window before; while that is not known, as wanted
  cpu_fold allowed{};               // none: any
};

// CPUs that all these members have together: those that nobody else uses. `me` is one of them; who may use none of its CPUs
// does not count. At least 1, at most `cpus`, rounded to the nearest.
std::uint32_t cpus_to_share(std::span<const cpu_member> members, std::size_t own_index, double cpus, double idle) noexcept;

// How many of the CPUs this member may use: as evenly as whole CPUs and what is wanted allow, what is left over to the
// oldest. The same for all who see the same members; together they make min(cpus, all that is wanted), but each has at
// least 1.
std::uint32_t share_of(std::span<const cpu_member> members, std::size_t own_index, std::uint32_t cpus) noexcept;

class cpu_registry {
 public:
  static constexpr std::size_t most_members = 256;
  static constexpr std::uint64_t fresh_ns = 1'000'000'000;  // who beat so lately is not checked
  static constexpr std::uint64_t stale_ns = 10'000'000'000;

  // Where it is, as text: in /dev/shm, or in the given directory where there is none (XDG_RUNTIME_DIR; "": nowhere). False:
  // it has no place.
  static bool path_for(unsigned uid, const char* otherwise, std::span<char> buffer) noexcept;

  // That of this user; "": it has no place. Allocates.
  static std::string default_path(const char* otherwise);

  explicit cpu_registry(const char* path) noexcept;
  cpu_registry(const cpu_registry&) = delete;
  cpu_registry& operator=(const cpu_registry&) = delete;

  // Says what this process wants and uses, and sees who else there is: about every window of the figures; it takes tens of
  // us. now_ns: CLOCK_MONOTONIC.
  void beat(std::uint64_t now_ns, std::uint32_t wanted, double used, const cpu_fold& allowed) noexcept;
  void leave() noexcept;

  // After the latest beat: everyone who counts, oneself first. Never none.
  std::span<const cpu_member> members() const noexcept { return {m_members.data(), m_count}; }
  std::size_t others() const noexcept { return m_count - 1; }
  std::uint32_t share(double cpus, double idle) const noexcept {
    return share_of(members(), 0, cpus_to_share(members(), 0, cpus, idle));
  }
  // Why it is as if it were alone; "": it is not.
  const char* why_alone() const noexcept { return m_why_alone; }

 private:
  void identify() noexcept;
  bool take_part(int fd, std::uint64_t now_ns) noexcept;

  char m_path[512] = {};
  std::array<cpu_member, most_members> m_members;
  std::size_t m_count = 1;
  std::size_t m_place = most_members;  // of this process's record; most_members: none
  const char* m_why_alone = "has not looked yet";
};

}  // namespace trimtab::observe
