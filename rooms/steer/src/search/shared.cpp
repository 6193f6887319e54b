#include <tuple>

#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

point nearest(const space& dimensions, const std::vector<double>& at) {
  point result;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double highest = static_cast<double>(dimensions.dimensions[i].size - 1);
    result.push_back(static_cast<std::uint32_t>(std::lround(std::clamp(at[i], 0.0, highest))));
  }
  return result;
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

bool is_collapsed(const space& dimensions, const std::vector<corner>& corners) {
  const point first = nearest(dimensions, corners.front().at);
  return std::all_of(corners.begin(), corners.end(),
                     [&](const corner& corner) { return nearest(dimensions, corner.at) == first; });
}

std::vector<corner> simplex_around(const space& dimensions, const point& start, bool is_both_sides) {
  std::vector<corner> corners{{place_of(start), 0}};
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (dimensions.dimensions[i].size < 2) continue;
    const double room_below = start[i], room_above = static_cast<double>(dimensions.dimensions[i].size - 1) - room_below;
    for (const double room :
         {room_above >= room_below ? room_above : -room_below, room_above >= room_below ? -room_below : room_above}) {
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

point first_guess(const space& dimensions, const search_limits& limits) {
  for (const point& hint : limits.hints)
    if (dimensions.contains(hint)) return hint;
  return dimensions.start;
}

}  // namespace trimtab::steer::algorithms
