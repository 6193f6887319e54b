// The room as session sees it.
#include "accounting/outermost.hpp"
#include "hooks/ompt.hpp"
#include "trimtab/openmp/openmp.hpp"

namespace trimtab::openmp {

using observe::the_recorder;

void attach(ompt_use use) noexcept {
  if (use == ompt_use::leave_to_others) ompt_yield_to_libraries();
  prepare_accounting();
  is_recording.store(the_recorder.level() >= observe::record_level::profile, std::memory_order_release);
}

void settle() noexcept {
  if (t_state != nullptr && observe::t_lane != nullptr && t_state->owner == observe::t_lane) account_joined(*t_state);
}

void detach() noexcept {
  ompt_detach();
  for (std::uint32_t i = 0, n = the_recorder.lanes(); i < n; ++i) {
    lane* const member_lane = the_recorder.lane_at(i);
    // Of lanes whose threads still run, what was put off stays so: it is theirs.
    if (member_lane == nullptr || member_lane->adapter == nullptr ||
        (member_lane->is_open() && member_lane != observe::t_lane))
      continue;
    account_joined(*static_cast<lane_state*>(member_lane->adapter));
  }
  if (is_recording.load(std::memory_order_relaxed) && the_recorder.lanes() == 0 && is_any_runtime_loaded())
    the_recorder.unavailable("OpenMP regions",
                             "an OpenMP runtime is loaded but no region of it was seen: the program forms no team, "
                             "or reaches the runtime in a way that cannot be watched (RTLD_DEEPBIND, a static runtime)",
                             "link the runtime dynamically");
}

void after_fork() noexcept {
  t_short_regions = {};
  runtimes_after_fork();
  outermost_after_fork();
}

}  // namespace trimtab::openmp
