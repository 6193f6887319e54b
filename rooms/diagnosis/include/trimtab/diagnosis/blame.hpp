// Who is to blame for waiting: at each moment of a wait, what the lane does that will end it; if that lane waits, too, what
// the lane does for which it waits, and so on. So each nanosecond of every wait is charged exactly once, and the charges of
// a wait add up to its length.
//
// Pure. The cost is one step for each interval, and one for each lane that waits for it, directly or through others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trimtab/diagnosis/lane_order.hpp"

namespace trimtab::diagnosis {

// Why a chain of waits ends where it does.
enum class chain_end : std::uint8_t {
  interval = 0,       // at a lane that does not wait: `culprit` says which interval
  unknown_giver = 1,  // at a wait of which nobody knows who ends it
  absent_lane = 2,    // at a lane of which nothing is known at that moment
  circle = 3,         // lanes that wait for each other
};

struct charge {
  interval_index wait = no_interval;     // who waits
  interval_index culprit = no_interval;  // who is charged; of an unknown giver: the wait itself that has none
  chain_end end = chain_end::interval;
  std::int64_t begin_ns = 0, end_ns = 0;
};

// Every charge, in no order that matters. Charges of one wait that follow each other may have the same culprit.
void for_each_charge(const lane_order& order, const std::function<void(const charge&)>& sink);

// Charges of one wait that follow each other, and whose culprits have the same group and kind, as one: the culprit is the
// first of them. In the order in which they end.
std::vector<charge> merged_charges(const lane_order& order);
// The same without a table of them.
void for_each_merged_charge(const lane_order& order, const std::function<void(const charge&)>& sink);

// Charges by group of the wait and group of the culprit.
struct blame_sum {
  std::uint32_t wait_group = 0, culprit_group = 0;  // the latter is 0 for an absent lane and a circle
  interval_kind culprit_kind = interval_kind::busy;
  chain_end end = chain_end::interval;
  std::int64_t ns = 0;
  std::uint64_t charges = 0;
};
// In the order of the groups.
std::vector<blame_sum> blame_by_group(const lane_order& order);
// The same from charges that are there already; merged ones count once. Throws interval_error where one names no interval.
std::vector<blame_sum> sums_of_charges(std::span<const lane_interval> intervals, std::span<const charge> charges);

}  // namespace trimtab::diagnosis
