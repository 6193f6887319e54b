#include "trimtab/diagnosis/critical_path.hpp"

#include <algorithm>

namespace trimtab::diagnosis {

namespace {

struct ends {
  std::int64_t first_ns, last_ns;
  lane_index last_lane;
};

ends ends_of(const lane_order& order) {
  const std::span<const lane_interval> intervals = order.intervals();
  ends result{intervals[0].begin_ns, intervals[0].end_ns, intervals[0].lane};
  for (const lane_interval& interval : intervals) {
    result.first_ns = std::min(result.first_ns, interval.begin_ns);
    if (interval.end_ns > result.last_ns || (interval.end_ns == result.last_ns && interval.lane < result.last_lane)) {
      result.last_ns = interval.end_ns;
      result.last_lane = interval.lane;
    }
  }
  return result;
}

// The lane to go on with at `time_ns`, where a wait of this lane ended then; no_lane: stay.
lane_index giver_at(const lane_order& order, const lane_interval& interval, std::int64_t time_ns) {
  const bool has_giver = interval.kind == interval_kind::waiting && interval.giver != no_lane;
  return has_giver && order.before(interval.giver, time_ns) != no_interval ? interval.giver : no_lane;
}

}  // namespace

std::vector<path_part> critical_path(const lane_order& order) {
  const std::span<const lane_interval> intervals = order.intervals();
  std::vector<path_part> path;
  if (intervals.empty()) return path;
  const ends whole = ends_of(order);
  std::int64_t now_ns = whole.last_ns;
  lane_index lane = whole.last_lane, jumps = 0;
  while (now_ns > whole.first_ns) {
    const interval_index at = order.before(lane, now_ns);
    if (at == no_interval) {  // up to the lane's interval before, or to the beginning
      const auto lane_intervals = order.of_lane(lane);
      const auto later = std::ranges::lower_bound(lane_intervals, now_ns, {},
                                                  [&](interval_index interval) { return intervals[interval].begin_ns; });
      const std::int64_t begin_ns = later == lane_intervals.begin() ? whole.first_ns : intervals[*(later - 1)].end_ns;
      path.push_back({no_interval, lane, begin_ns, now_ns});
      now_ns = begin_ns;
      continue;
    }
    const lane_interval& interval = intervals[at];
    const lane_index giver = giver_at(order, interval, now_ns);
    if (giver != no_lane && ++jumps <= order.lanes()) {  // more than that at one moment is a circle
      lane = giver;
      continue;
    }
    path.push_back({at, lane, interval.begin_ns, now_ns});
    now_ns = interval.begin_ns;
    jumps = 0;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace trimtab::diagnosis
