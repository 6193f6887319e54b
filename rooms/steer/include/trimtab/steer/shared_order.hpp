// What a shared search asks of a member, and what the member answers. Plain data, so that a transport can carry it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trimtab/steer/decision.hpp"
#include "trimtab/steer/domain.hpp"

namespace trimtab::steer {

using member_number = std::uint32_t;
using knob_values = std::vector<knob_value>;

// Run with these values until so many measurements were taken.
struct shared_leg {
  knob_values values;
  std::uint32_t measurements = 1;
  bool operator==(const shared_leg&) const = default;
};

enum class order_purpose : std::uint8_t {
  explore,  // the incumbent, then a candidate of the search
  prove,    // pairs of candidate and incumbent
  verify,   // one step of the comparison that all members make at the same time
  keep,     // `afterwards` is accepted
  undo,     // back to what is accepted: `afterwards`
  recheck,  // the level of what is accepted
};

struct shared_order {
  std::uint64_t number = 0;  // rises; a newer order replaces an older one
  order_purpose purpose = order_purpose::explore;
  std::vector<shared_leg> legs = {};  // one after the other; none: only `afterwards`
  knob_values afterwards = {};        // in force when the legs are over, until the next order
  std::uint32_t settle = 0;           // measurements after each change that do not count
  double clearly_worse = 0;           // the last leg ends early if it is above the first one by this factor; 0: it does not
  std::string reason = {};
  estimate gain = {};  // of what is kept
  bool operator==(const shared_order&) const = default;
};

struct shared_report {
  std::uint64_t number = 0;     // of the order
  std::vector<double> medians;  // of each leg; infinity: its values could not be applied, or the measurement failed
  bool is_cut_short = false;    // the last leg was clearly worse, and was not measured to its end
  bool operator==(const shared_report&) const = default;
};

}  // namespace trimtab::steer
