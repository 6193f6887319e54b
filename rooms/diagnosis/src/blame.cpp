#include "trimtab/diagnosis/blame.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <tuple>

namespace trimtab::diagnosis {

namespace {

// All lanes at one moment, and who waits for whom: a tree below each lane that does not wait, but for circles.
class moment {
 public:
  moment(const lane_order& order, const std::function<void(const charge&)>& sink)
      : m_intervals(order.intervals()), m_sink(sink), m_lanes(order.lanes()) {}

  // From now on the lane does something else.
  void change(lane_index lane, interval_index to, std::int64_t now_ns) {
    settle(lane, now_ns);
    unlink(lane);
    m_lanes[lane].current = to;
    m_lanes[lane].since_ns = now_ns;
    link(lane);
  }

 private:
  struct state {
    interval_index current = no_interval;
    std::int64_t since_ns = 0;        // up to here its wait is charged
    std::vector<lane_index> waiters;  // who waits for it directly
    std::size_t place_at_giver = 0;
  };

  bool waits(lane_index lane) const {
    const interval_index current = m_lanes[lane].current;
    return current != no_interval && m_intervals[current].kind == interval_kind::waiting;
  }
  lane_index giver_of(lane_index lane) const { return waits(lane) ? m_intervals[m_lanes[lane].current].giver : no_lane; }

  void link(lane_index lane) {
    const lane_index giver = giver_of(lane);
    if (giver == no_lane) return;
    m_lanes[lane].place_at_giver = m_lanes[giver].waiters.size();
    m_lanes[giver].waiters.push_back(lane);
  }

  void unlink(lane_index lane) {
    const lane_index giver = giver_of(lane);
    if (giver == no_lane) return;
    std::vector<lane_index>& waiters = m_lanes[giver].waiters;
    const std::size_t place = m_lanes[lane].place_at_giver;
    waiters[place] = waiters.back();
    m_lanes[waiters[place]].place_at_giver = place;
    waiters.pop_back();
  }

  // Where the chain that begins at the lane ends.
  charge end_of_chain(lane_index lane) const {
    for (std::size_t steps = 0; steps <= m_lanes.size(); ++steps) {
      const interval_index current = m_lanes[lane].current;
      if (current == no_interval) return {.end = chain_end::absent_lane};
      if (!waits(lane)) return {.culprit = current, .end = chain_end::interval};
      const lane_index giver = m_intervals[current].giver;
      if (giver == no_lane) return {.culprit = current, .end = chain_end::unknown_giver};
      lane = giver;
    }
    return {.end = chain_end::circle};
  }

  // Charges what waits for the lane, and the lane itself if it waits, up to now.
  void settle(lane_index changed, std::int64_t now_ns) {
    charge result_charge = end_of_chain(changed);
    m_below.assign(1, changed);
    while (!m_below.empty()) {
      const lane_index lane = m_below.back();
      m_below.pop_back();
      state& lane_intervals = m_lanes[lane];
      if (waits(lane) && lane_intervals.since_ns < now_ns) {
        result_charge.wait = lane_intervals.current;
        result_charge.begin_ns = lane_intervals.since_ns;
        result_charge.end_ns = now_ns;
        m_sink(result_charge);
      }
      lane_intervals.since_ns = now_ns;
      for (const lane_index waiter : lane_intervals.waiters)
        if (waiter != changed) m_below.push_back(waiter);
    }
  }

  std::span<const lane_interval> m_intervals;
  const std::function<void(const charge&)>& m_sink;
  std::vector<state> m_lanes;
  std::vector<lane_index> m_below;
};

// A lane's next change: to the interval at `place` of its order, or, after it, to nothing.
struct next_change {
  std::int64_t time_ns;
  lane_index lane;
  std::size_t place;
  bool is_end;  // of that interval
  bool operator>(const next_change& other) const { return std::tie(time_ns, lane) > std::tie(other.time_ns, other.lane); }
};

}  // namespace

void for_each_charge(const lane_order& order, const std::function<void(const charge&)>& sink) {
  const std::span<const lane_interval> intervals = order.intervals();
  moment now(order, sink);
  std::priority_queue<next_change, std::vector<next_change>, std::greater<>> changes;
  for (lane_index lane = 0; lane < order.lanes(); ++lane)
    if (const auto lane_intervals = order.of_lane(lane); !lane_intervals.empty())
      changes.push({intervals[lane_intervals[0]].begin_ns, lane, 0, false});
  while (!changes.empty()) {
    next_change next = changes.top();
    changes.pop();
    const std::span<const interval_index> lane_intervals = order.of_lane(next.lane);
    const std::int64_t time_ns = next.time_ns;
    if (next.is_end) {
      ++next.place;
      const bool has_more = next.place < lane_intervals.size();
      if (!has_more || intervals[lane_intervals[next.place]].begin_ns > time_ns) {
        now.change(next.lane, no_interval, time_ns);
        if (has_more) changes.push({intervals[lane_intervals[next.place]].begin_ns, next.lane, next.place, false});
        continue;
      }
    }
    now.change(next.lane, lane_intervals[next.place], time_ns);
    changes.push({intervals[lane_intervals[next.place]].end_ns, next.lane, next.place, true});
  }
}

void for_each_merged_charge(const lane_order& order, const std::function<void(const charge&)>& sink) {
  const std::span<const lane_interval> intervals = order.intervals();
  const auto is_same_culprit = [&](const charge& one, const charge& other) {
    if (one.wait != other.wait || one.end != other.end || one.end_ns != other.begin_ns) return false;
    if (one.culprit == no_interval || other.culprit == no_interval) return one.culprit == other.culprit;
    const lane_interval &first = intervals[one.culprit], &second = intervals[other.culprit];
    return first.group == second.group && first.kind == second.kind;
  };
  std::vector<charge> open(order.lanes());
  for_each_charge(order, [&](const charge& charged) {
    charge& last = open[intervals[charged.wait].lane];
    if (last.wait != no_interval && is_same_culprit(last, charged)) {
      last.end_ns = charged.end_ns;
      return;
    }
    if (last.wait != no_interval) sink(last);
    last = charged;
  });
  for (const charge& last : open)
    if (last.wait != no_interval) sink(last);
}

std::vector<charge> merged_charges(const lane_order& order) {
  std::vector<charge> charges;
  for_each_merged_charge(order, [&](const charge& merged) { charges.push_back(merged); });
  return charges;
}

namespace {

// Sums of charges by what the result is by.
class summing {
 public:
  explicit summing(std::span<const lane_interval> intervals) : m_intervals(intervals) {}

  void add(const charge& charged) {
    const bool has_culprit = charged.culprit != no_interval;
    const std::uint32_t wait_group = m_intervals[charged.wait].group;
    const std::uint32_t culprit_group = has_culprit ? m_intervals[charged.culprit].group : 0;
    const interval_kind kind = has_culprit ? m_intervals[charged.culprit].kind : interval_kind::busy;
    const sum_key wanted{wait_group, culprit_group, kind, charged.end};
    // Few are different, and most are as the one before.
    if (m_last == nullptr || wanted != m_last_key) {
      m_last = &m_sums[wanted];
      m_last_key = wanted;
      *m_last = {wait_group, culprit_group, kind, charged.end, m_last->ns, m_last->charges};
    }
    m_last->ns += charged.end_ns - charged.begin_ns;
    ++m_last->charges;
  }

  std::vector<blame_sum> result() const {
    std::vector<blame_sum> sums;
    sums.reserve(m_sums.size());
    for (const auto& [key, sum] : m_sums) sums.push_back(sum);
    return sums;
  }

 private:
  using sum_key = std::tuple<std::uint32_t, std::uint32_t, interval_kind, chain_end>;
  std::span<const lane_interval> m_intervals;
  std::map<sum_key, blame_sum> m_sums;
  sum_key m_last_key;
  blame_sum* m_last = nullptr;
};

}  // namespace

std::vector<blame_sum> blame_by_group(const lane_order& order) {
  summing sums(order.intervals());
  for_each_charge(order, [&](const charge& charged) { sums.add(charged); });
  return sums.result();
}

std::vector<blame_sum> sums_of_charges(std::span<const lane_interval> intervals, std::span<const charge> charges) {
  summing sums(intervals);
  for (const charge& charged : charges) {
    const bool is_known = charged.culprit == no_interval || charged.culprit < intervals.size();
    if (charged.wait >= intervals.size() || !is_known)
      throw interval_error("a charge: expected intervals below " + std::to_string(intervals.size()) + ", found " +
                           std::to_string(charged.wait) + " and " + std::to_string(charged.culprit));
    sums.add(charged);
  }
  return sums.result();
}

}  // namespace trimtab::diagnosis
