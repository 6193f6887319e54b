// The lower priority of a team's members. A nice value belongs to a thread: threads and processes that a thread creates get
// its own. So the primary thread, which creates most of them, keeps its value.
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "steering/team_evaluation.hpp"

namespace trimtab::openmp {

namespace {

constexpr int lowest_priority = 19;
thread_local int t_added = 0;  // to the nice value of this thread

void add_to_nice(int difference) noexcept {
  const int saved = errno;
  errno = 0;
  const int before = getpriority(PRIO_PROCESS, 0);  // 0: of the calling thread
  const int after = std::min(before + difference, lowest_priority);
  if (errno == 0 && setpriority(PRIO_PROCESS, 0, after) == 0) t_added += after - before;
  errno = saved;
}

}  // namespace

void lower_priority_once(int nice) noexcept {
  if (nice > 0 && t_added == 0) add_to_nice(nice);
}

void restore_priority() noexcept {
  if (t_added != 0) add_to_nice(-t_added);
}

}  // namespace trimtab::openmp
