// A change of a running program, or what became of one. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

enum class outcome : std::uint16_t {
  trial = 1,   // in force, not accepted
  kept = 2,    // what is in force is accepted from here on
  undone = 3,  // back to what was accepted
  set = 4,     // in force and accepted at once, by a rule
};
std::string_view name_of(outcome result_kind) noexcept;

struct change {
  std::uint32_t knob = 0;  // its place among the subject's knobs
  knob_value from = 0;
  knob_value to = 0;
  bool operator==(const change&) const = default;
};

// Share of the objective that is saved: 0.2 is a fifth less. unknown gains have no pairs.
struct estimate {
  double gain = 0;
  double uncertainty = 0;  // half the width of a 95 % interval
  std::uint32_t pairs = 0;
  bool operator==(const estimate&) const = default;
};

struct decision {
  decision_number number = 0;
  double time_s = 0;
  subject_id subject = 0;
  outcome what = outcome::trial;
  std::vector<change> changes;  // for kept: what was changed since the values accepted before
  std::string policy;
  std::string reason;
  std::vector<figure> evidence;
  estimate gain;
  bool operator==(const decision&) const = default;
};

// One line: "mandel.c:48: threads 4 -> 3, kept: barrier passages of 14 ms; gain 22.0 % +- 3.0 %"
std::string describe(const decision& decision_made, const subject_info& subject);

}  // namespace trimtab::steer
