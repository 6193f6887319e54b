#include "trimtab/diagnosis/lane_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trimtab::diagnosis {

namespace {

constexpr std::size_t most_runs = 64;

std::string place_of(interval_index at, const lane_interval& interval) {
  return "interval " + std::to_string(at) + " of lane " + std::to_string(interval.lane);
}

std::string length_of(const lane_interval& interval) {
  return std::to_string(interval.begin_ns) + " to " + std::to_string(interval.end_ns) + " ns";
}

void check(interval_index at, const lane_interval& interval, lane_index lanes) {
  if (interval.end_ns <= interval.begin_ns)
    throw interval_error(place_of(at, interval) + ": expected an end after its begin, found " + length_of(interval));
  if (interval.lane >= lanes)
    throw interval_error(place_of(at, interval) + ": expected a lane below " + std::to_string(lanes));
  if (interval.giver != no_lane && interval.giver >= lanes)
    throw interval_error(place_of(at, interval) + ": expected a giver below " + std::to_string(lanes) + ", found " +
                         std::to_string(interval.giver));
}

// By begin. Whoever makes intervals tells them in a few runs that are in order, each of its kind: these are merged.
void sort_runs(std::span<interval_index> order, std::span<const lane_interval> intervals) {
  const auto is_earlier = [&](interval_index a, interval_index b) { return intervals[a].begin_ns < intervals[b].begin_ns; };
  std::vector<std::size_t> ends;  // of runs
  for (std::size_t at = 1; at < order.size(); ++at)
    if (is_earlier(order[at], order[at - 1])) ends.push_back(at);
  if (ends.size() > most_runs) {
    std::ranges::sort(order, is_earlier);
    return;
  }
  ends.push_back(order.size());
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    for (std::size_t at = 0; at < ends.size(); at += 2) {
      const std::size_t begin = merged.empty() ? 0 : merged.back();
      const std::size_t end = ends[std::min(at + 1, ends.size() - 1)];
      const auto first = order.begin();
      std::inplace_merge(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(ends[at]),
                         first + static_cast<std::ptrdiff_t>(end), is_earlier);
      merged.push_back(end);
    }
    ends = std::move(merged);
  }
}

}  // namespace

lane_order::lane_order(std::span<const lane_interval> intervals, lane_index lanes)
    : m_intervals(intervals), m_order(intervals.size()), m_first(lanes + std::size_t{1}, 0) {
  for (std::size_t at = 0; at < intervals.size(); ++at) {
    check(static_cast<interval_index>(at), intervals[at], lanes);
    ++m_first[intervals[at].lane + 1];
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) m_first[lane + 1] += m_first[lane];
  std::vector<std::size_t> free_place(m_first.begin(), m_first.end() - 1);
  for (std::size_t at = 0; at < intervals.size(); ++at)
    m_order[free_place[intervals[at].lane]++] = static_cast<interval_index>(at);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    sort_runs(std::span(m_order).subspan(m_first[lane], m_first[lane + 1] - m_first[lane]), intervals);
  for (std::size_t at = 1; at < m_order.size(); ++at) {
    const lane_interval &before = intervals[m_order[at - 1]], &next = intervals[m_order[at]];
    if (before.lane == next.lane && before.end_ns > next.begin_ns)
      throw interval_error(place_of(m_order[at], next) + ": expected a begin at " + std::to_string(before.end_ns) +
                           " ns or later, where the one before it ends, found " + length_of(next));
  }
}

interval_index lane_order::before(lane_index lane, std::int64_t time_ns) const noexcept {
  const std::span<const interval_index> lane_intervals = of_lane(lane);
  const auto later =
      std::ranges::lower_bound(lane_intervals, time_ns, {}, [&](interval_index at) { return m_intervals[at].begin_ns; });
  if (later == lane_intervals.begin()) return no_interval;
  const interval_index candidate = *(later - 1);
  return m_intervals[candidate].end_ns >= time_ns ? candidate : no_interval;
}

}  // namespace trimtab::diagnosis
