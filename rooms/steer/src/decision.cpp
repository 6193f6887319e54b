#include "trimtab/steer/decision.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trimtab::steer {

std::string_view name_of(outcome which) noexcept {
  switch (which) {
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
  const auto found = std::find_if(from.begin(), from.end(), [&](const figure& each) { return each.name == name; });
  return found == from.end() ? nullptr : &*found;
}

double figure_or(std::span<const figure> from, std::string_view name, double otherwise) noexcept {
  const figure* const found = find_figure(from, name);
  return found == nullptr ? otherwise : found->value;
}

std::string describe(const decision& made, const subject_info& of) {
  std::string text;
  for (const change& each : made.changes) {
    if (!text.empty()) text += ", ";
    if (each.knob >= of.knobs.size()) continue;
    const knob& turned = of.knobs[each.knob];
    text += turned.name + ' ' + turned.values.text_of(each.from) + " -> " + turned.values.text_of(each.to);
  }
  text = of.name + ": " + text + (text.empty() ? "" : ", ") + std::string(name_of(made.what));
  if (!made.reason.empty()) text += ": " + made.reason;
  if (made.gain.pairs > 0) {
    char gain[64];
    std::snprintf(gain, sizeof gain, "; gain %.1f %% +- %.1f %%", made.gain.gain * 100, made.gain.uncertainty * 100);
    text += gain;
  }
  return text;
}

}  // namespace trimtab::steer
