// What the engine knows of a knob: plain data. How it is turned is its owner's (board).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trimtab/steer/domain.hpp"

namespace trimtab::steer {

using subject_id = std::uint32_t;  // as in the run's table of names

// Changes of a safe knob leave the program's results as they are. Others need the user's consent, once, for the run.
enum class consent : std::uint8_t { safe, needed };

// What to try first when a cause was found (diagnosis.hpp names causes): these values, best first.
struct remedy {
  std::string cause;
  std::vector<knob_value> values;
  bool operator==(const remedy&) const = default;
};

struct knob {
  std::string name;  // "threads", "chunk": unique on its subject, no spaces
  domain values;
  knob_value initial;        // of the domain; as the program has it
  double change_cost_s = 0;  // what one change costs the program, at most
  consent asks = consent::safe;
  std::uint32_t settle = 0;  // measurements after a change that do not count
  std::vector<remedy> remedies;
  bool operator==(const knob&) const = default;
};

inline std::vector<knob_value> initial_values_of(const std::vector<knob>& knobs) {
  std::vector<knob_value> values;
  values.reserve(knobs.size());
  for (const knob& each : knobs) values.push_back(each.initial);
  return values;
}

// A knob of a subject: its place among the subject's knobs.
struct knob_id {
  subject_id subject = 0;
  std::uint32_t place = 0;
  auto operator<=>(const knob_id&) const = default;
};

}  // namespace trimtab::steer
