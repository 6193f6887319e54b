#include "trimtab/observe/lane_times.hpp"

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

times_of_threads read_lane_times(const char* root) {
  times_of_threads found;
  const proc_threads threads(root);
  for (std::uint32_t i = 0, n = the_recorder.lanes(); i < n; ++i) {
    lane* const each = the_recorder.lane_at(i);
    if (each == nullptr || each->kind() != lane_kind::thread || !each->is_open()) continue;
    const std::uint32_t tid = each->header().tid;
    if (const auto its = threads.times(tid)) found[tid] = *its;
  }
  return found;
}

std::optional<thread_times> lane_times::since_last() {
  const times_of_threads before = std::exchange(m_before, m_read());
  if (m_before.empty()) return std::nullopt;
  thread_times sum;
  for (const auto& [tid, now] : m_before) {
    const auto known = before.find(tid);
    if (known == before.end()) continue;
    const thread_times& then = known->second;
    if (now.run_ns < then.run_ns || now.run_delay_ns < then.run_delay_ns) continue;  // another thread of that number
    sum.run_ns += now.run_ns - then.run_ns;
    sum.run_delay_ns += now.run_delay_ns - then.run_delay_ns;
    sum.time_slices += now.time_slices - then.time_slices;
  }
  return sum;
}

std::optional<double> lane_times::delay_share() {
  const std::optional<thread_times> since = since_last();
  if (!since || since->run_ns == 0) return std::nullopt;
  const auto ran = static_cast<double>(since->run_ns), delayed = static_cast<double>(since->run_delay_ns);
  return delayed / (ran + delayed);
}

}  // namespace trimtab::observe
