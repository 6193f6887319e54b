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
  ends found{intervals[0].begin_ns, intervals[0].end_ns, intervals[0].lane};
  for (const lane_interval& one : intervals) {
    found.first_ns = std::min(found.first_ns, one.begin_ns);
    if (one.end_ns > found.last_ns || (one.end_ns == found.last_ns && one.lane < found.last_lane)) {
      found.last_ns = one.end_ns;
      found.last_lane = one.lane;
    }
  }
  return found;
}

// The lane to go on with at `time_ns`, where a wait of this lane ended then; no_lane: stay.
lane_index giver_at(const lane_order& order, const lane_interval& one, std::int64_t time_ns) {
  const bool has_giver = one.kind == interval_kind::waiting && one.giver != no_lane;
  return has_giver && order.before(one.giver, time_ns) != no_interval ? one.giver : no_lane;
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
      const auto own = order.of_lane(lane);
      const auto later =
          std::ranges::lower_bound(own, now_ns, {}, [&](interval_index one) { return intervals[one].begin_ns; });
      const std::int64_t begin_ns = later == own.begin() ? whole.first_ns : intervals[*(later - 1)].end_ns;
      path.push_back({no_interval, lane, begin_ns, now_ns});
      now_ns = begin_ns;
      continue;
    }
    const lane_interval& one = intervals[at];
    const lane_index giver = giver_at(order, one, now_ns);
    if (giver != no_lane && ++jumps <= order.lanes()) {  // more than that at one moment is a circle
      lane = giver;
      continue;
    }
    path.push_back({at, lane, one.begin_ns, now_ns});
    now_ns = one.begin_ns;
    jumps = 0;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace trimtab::diagnosis
