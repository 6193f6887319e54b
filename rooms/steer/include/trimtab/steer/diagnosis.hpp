// From figures to causes, and from causes to what to try first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/search.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

namespace causes {
inline constexpr std::string_view imbalance = "imbalance";
inline constexpr std::string_view too_small = "too-small";
inline constexpr std::string_view oversubscription = "oversubscription";
inline constexpr std::string_view starvation = "starvation";
// No figure tells that a knob is wrong: only a search can. A remedy without values.
inline constexpr std::string_view undiagnosed = "undiagnosed";
}  // namespace causes

struct finding {
  std::string cause;
  double strength = 0;  // share of the subject's time that it may cost
  std::string text;     // for people: "slowest lane 1.9 times the mean"
  figure evidence;
};

// Strongest first; a subject's own figure counts before the process's of the same name.
std::vector<finding> diagnose(const std::vector<figure>& of_subject, const std::vector<figure>& of_process);

// What the knobs' remedies say to these findings: points to begin a search with, best guess first, each once, never the
// start.
std::vector<point> hints_of(const std::vector<finding>& findings, const std::vector<knob>& knobs, const point& start);

}  // namespace trimtab::steer
