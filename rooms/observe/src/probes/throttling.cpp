// Apart from the probe, so that who reads this does not need a recorder.
#include <cstdio>

#include "cgroup.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

throttling read_throttling(const base::cgroup_directory& from) noexcept {
  throttling result;
  char path[1700];
  char text[2048];
  std::snprintf(path, sizeof path, "%s/cpu.stat", from.path);
  if (read_file(path, text, sizeof text) <= 0) return result;
  std::uint64_t time = 0;
  result.is_valid = find_number(text, "nr_periods", result.periods) && find_number(text, "nr_throttled", result.throttled) &&
                    find_number(text, from.is_v2 ? "throttled_usec" : "throttled_time", time);
  result.throttled_us = from.is_v2 ? time : time / 1000;  // version 1 counts in ns
  return result;
}

}  // namespace trimtab::observe
