#include "trimtab/observe/cpu_usage.hpp"

#include <sys/resource.h>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::observe {

namespace {

cpu_usage usage_of(__rusage_who who) noexcept {
  rusage usage{};
  if (!base::may_call_system() || getrusage(who, &usage) != 0) return {};
  return {base::nanoseconds_of(usage.ru_utime), base::nanoseconds_of(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

std::uint64_t difference(std::uint64_t later, std::uint64_t earlier) noexcept {
  return later > earlier ? later - earlier : 0;
}

}  // namespace

cpu_usage cpu_usage::since(const cpu_usage& earlier) const noexcept {
  return {difference(program_ns, earlier.program_ns), difference(kernel_ns, earlier.kernel_ns),
          difference(minor_faults, earlier.minor_faults), difference(major_faults, earlier.major_faults)};
}

cpu_usage cpu_usage::plus(const cpu_usage& other) const noexcept {
  return {program_ns + other.program_ns, kernel_ns + other.kernel_ns, minor_faults + other.minor_faults,
          major_faults + other.major_faults};
}

cpu_usage usage_of_thread() noexcept { return usage_of(RUSAGE_THREAD); }

cpu_usage usage_of_process() noexcept { return usage_of(RUSAGE_SELF); }

}  // namespace trimtab::observe
