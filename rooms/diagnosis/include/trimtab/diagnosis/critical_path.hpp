// The chain of intervals that decided when the program ended: from its last moment back, on the lane that computed; from the
// end of a wait to the lane that ended it.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/diagnosis/lane_order.hpp"

namespace trimtab::diagnosis {

struct path_part {
  interval_index interval = no_interval;  // no_interval: the lane had none then
  lane_index lane = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

// From the first moment of any lane to the last one of any lane, without gaps, in the order of time: the lengths add up to
// the whole time. A wait is part of it only where its giver is not known, had no interval, or waits in a circle. Of lanes
// that end at the same time the first one is taken. Empty: no intervals.
std::vector<path_part> critical_path(const lane_order& order);

}  // namespace trimtab::diagnosis
