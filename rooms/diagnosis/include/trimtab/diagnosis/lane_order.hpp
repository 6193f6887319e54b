// The intervals of each lane in the order of time.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "trimtab/diagnosis/lane_interval.hpp"

namespace trimtab::diagnosis {

// Says which interval, what was expected and what was found.
class interval_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

class lane_order {
 public:
  // In any order. Throws interval_error where one has no length, overlaps another one of its lane, or names a lane that is
  // not below `lanes`. The intervals must outlive this.
  lane_order(std::span<const lane_interval> intervals, lane_index lanes);

  std::span<const lane_interval> intervals() const noexcept { return m_intervals; }
  lane_index lanes() const noexcept { return static_cast<lane_index>(m_first.size() - 1); }
  // All intervals, by lane and begin.
  std::span<const interval_index> all() const noexcept { return m_order; }
  std::span<const interval_index> of_lane(lane_index lane) const noexcept {
    return std::span(m_order).subspan(m_first[lane], m_first[lane + 1] - m_first[lane]);
  }
  // The one that ends at `time_ns` or later and began before it; no_interval: the lane had none then.
  interval_index before(lane_index lane, std::int64_t time_ns) const noexcept;

 private:
  std::span<const lane_interval> m_intervals;
  std::vector<interval_index> m_order;  // by lane and begin
  std::vector<std::size_t> m_first;     // of each lane, and one behind the last
};

}  // namespace trimtab::diagnosis
