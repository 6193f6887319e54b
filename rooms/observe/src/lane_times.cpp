#include "trimtab/observe/lane_times.hpp"

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

times_of_threads read_lane_times(const char* root) {
  times_of_threads times_found;
  const proc_threads threads(root);
  for (std::uint32_t i = 0, n = the_recorder.lanes(); i < n; ++i) {
    lane* const lane_entry = the_recorder.lane_at(i);
    if (lane_entry == nullptr || lane_entry->kind() != lane_kind::thread || !lane_entry->is_open()) continue;
    const std::uint32_t tid = lane_entry->header().tid;
    if (const auto thread_time = threads.times(tid)) times_found[tid] = *thread_time;
  }
  return times_found;
}

std::optional<thread_times> lane_times::since_last() {
  const times_of_threads before = std::exchange(m_before, m_read());
  if (m_before.empty()) return std::nullopt;
  thread_times sum;
  for (const auto& [tid, now] : m_before) {
    const auto earlier = before.find(tid);
    if (earlier == before.end()) continue;
    const thread_times& times_before = earlier->second;
    if (now.run_ns < times_before.run_ns || now.run_delay_ns < times_before.run_delay_ns)
      continue;  // another thread of that number
    sum.run_ns += now.run_ns - times_before.run_ns;
    sum.run_delay_ns += now.run_delay_ns - times_before.run_delay_ns;
    sum.time_slices += now.time_slices - times_before.time_slices;
  }
  return sum;
}

std::optional<double> lane_times::delay_share() {
  const std::optional<thread_times> start = since_last();
  if (!start || start->run_ns == 0) return std::nullopt;
  const auto ran = static_cast<double>(start->run_ns), delayed = static_cast<double>(start->run_delay_ns);
  return delayed / (ran + delayed);
}

}  // namespace trimtab::observe
