// Shares of CPUs among members: pure.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::observe {

namespace {

std::uint32_t count(const cpu_fold& cpus) noexcept {
  std::uint32_t total = 0;
  for (const std::uint64_t word : cpus) total += static_cast<std::uint32_t>(std::popcount(word));
  return total;
}

// Of what a member does, the part that may be on the CPUs of another.
double part_beside(const cpu_member& member, const cpu_member& other) noexcept {
  const std::uint32_t all = count(member.allowed);
  if (all == 0 || count(other.allowed) == 0) return 1;
  cpu_fold folded;
  for (std::size_t i = 0; i < folded.size(); ++i) folded[i] = member.allowed[i] & other.allowed[i];
  return static_cast<double>(count(folded)) / all;
}

}  // namespace

cpu_fold fold(const base::cpu_mask& allowed) noexcept {
  cpu_fold cpus{};
  for (std::size_t cpu = 0; cpu < base::cpu_mask::most; ++cpu)
    if (allowed.has(cpu)) cpus[cpu / 64 % cpus.size()] |= std::uint64_t{1} << cpu % 64;
  return cpus;
}

std::uint32_t cpus_to_share(std::span<const cpu_member> members, std::size_t own_index, double cpus, double idle) noexcept {
  double free_cpus = idle;
  for (const cpu_member& member : members) free_cpus += member.used * part_beside(member, members[own_index]);
  const double limit = std::max(1.0, cpus);
  return static_cast<std::uint32_t>(free_cpus < limit ? std::max(1.0, std::round(free_cpus)) : limit);
}

std::uint32_t share_of(std::span<const cpu_member> members, std::size_t own_index, std::uint32_t cpus) noexcept {
  struct want {
    std::uint32_t threads;
    const cpu_member* of;
  };
  std::array<want, cpu_registry::most_members> wants;
  std::size_t left = 0;
  for (const cpu_member& member : members.first(std::min(members.size(), wants.size()))) {
    const double part = part_beside(member, members[own_index]);
    if (part > 0) wants[left++] = {static_cast<std::uint32_t>(std::ceil(member.wanted * part)), &member};
  }
  // Who wants least first, and of those the youngest: what a division leaves over goes to those after.
  std::sort(wants.begin(), wants.begin() + static_cast<std::ptrdiff_t>(left), [](const want& a, const want& b) {
    return std::tie(a.threads, b.of->start, b.of->pid_namespace, b.of->pid) <
           std::tie(b.threads, a.of->start, a.of->pid_namespace, a.of->pid);
  });
  std::uint32_t rest = cpus;
  for (std::size_t i = 0; left > 0; ++i, --left) {
    const std::uint32_t member_share = std::min(wants[i].threads, rest / static_cast<std::uint32_t>(left));
    if (wants[i].of == &members[own_index]) return std::max(member_share, 1u);
    rest -= member_share;
  }
  return 1;
}

}  // namespace trimtab::observe
