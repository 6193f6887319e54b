#include "run_delay_share.hpp"

#include "trimtab/observe/recorder.hpp"

namespace trimtab::session {

std::optional<observe::thread_times> times_of_lanes() {
  std::optional<observe::thread_times> sum;
  for (std::uint32_t i = 0, n = observe::the_recorder.lanes(); i < n; ++i) {
    observe::lane* const each = observe::the_recorder.lane_at(i);
    if (each == nullptr || !each->is_open()) continue;
    const auto its = observe::read_thread_times("", each->header().tid);
    if (!its) continue;
    if (!sum) sum.emplace();
    sum->run_ns += its->run_ns;
    sum->run_delay_ns += its->run_delay_ns;
  }
  return sum;
}

}  // namespace trimtab::session
