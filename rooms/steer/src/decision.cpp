#include "trimtab/steer/decision.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trimtab::steer {

std::string_view name_of(outcome result_kind) noexcept {
  switch (result_kind) {
    case outcome::trial:
      return "trial";
    case outcome::kept:
      return "kept";
    case outcome::undone:
      return "undone";
    case outcome::set:
      return "set";
  }
  return "unknown";
}

const figure* find_figure(std::span<const figure> from, std::string_view name) noexcept {
  const auto match = std::find_if(from.begin(), from.end(), [&](const figure& candidate) { return candidate.name == name; });
  return match == from.end() ? nullptr : &*match;
}

double figure_or(std::span<const figure> from, std::string_view name, double otherwise) noexcept {
  const figure* const match = find_figure(from, name);
  return match == nullptr ? otherwise : match->value;
}

std::string describe(const decision& decision_made, const subject_info& subject) {
  std::string text;
  for (const change& change : decision_made.changes) {
    if (!text.empty()) text += ", ";
    if (change.knob >= subject.knobs.size()) continue;
    const knob& turned = subject.knobs[change.knob];
    text += turned.name + ' ' + turned.values.text_of(change.from) + " -> " + turned.values.text_of(change.to);
  }
  text = subject.name + ": " + text + (text.empty() ? "" : ", ") + std::string(name_of(decision_made.what));
  if (!decision_made.reason.empty()) text += ": " + decision_made.reason;
  if (decision_made.gain.pairs > 0) {
    char gain[64];
    std::snprintf(gain, sizeof gain, "; gain %.1f %% +- %.1f %%", decision_made.gain.gain * 100,
                  decision_made.gain.uncertainty * 100);
    text += gain;
  }
  return text;
}

}  // namespace trimtab::steer
