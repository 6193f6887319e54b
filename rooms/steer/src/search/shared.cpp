#include <tuple>

#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

point nearest(const space& over, const std::vector<double>& at) {
  point found;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double highest = static_cast<double>(over.dimensions[i].size - 1);
    found.push_back(static_cast<std::uint32_t>(std::lround(std::clamp(at[i], 0.0, highest))));
  }
  return found;
}

std::vector<double> place_of(const point& at) { return {at.begin(), at.end()}; }

std::vector<double> beyond(const std::vector<double>& a, const std::vector<double>& b, double factor) {
  std::vector<double> all(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) all[i] = a[i] + factor * (a[i] - b[i]);
  return all;
}

void sort_by_value(std::vector<corner>& corners) {
  std::sort(corners.begin(), corners.end(),
            [](const corner& a, const corner& b) { return std::tie(a.value, a.at) < std::tie(b.value, b.at); });
}

bool is_collapsed(const space& over, const std::vector<corner>& corners) {
  const point first = nearest(over, corners.front().at);
  return std::all_of(corners.begin(), corners.end(), [&](const corner& each) { return nearest(over, each.at) == first; });
}

std::vector<corner> simplex_around(const space& over, const point& start, bool is_both_sides) {
  std::vector<corner> corners{{place_of(start), 0}};
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (over.dimensions[i].size < 2) continue;
    const double below = start[i], above = static_cast<double>(over.dimensions[i].size - 1) - below;
    for (const double room : {above >= below ? above : -below, above >= below ? -below : above}) {
      if (room == 0) continue;
      // Half of the room: far enough to see the space's shape, at least one step.
      const double step = std::copysign(std::max(1.0, std::floor(std::abs(room) / 2)), room);
      corners.push_back(corners.front());
      corners.back().at[i] += step;
      if (!is_both_sides) break;
    }
  }
  return corners;
}

point first_guess(const space& over, const search_limits& within) {
  for (const point& hint : within.hints)
    if (over.contains(hint)) return hint;
  return over.start;
}

}  // namespace trimtab::steer::algorithms
