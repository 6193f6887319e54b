// Heat on a ring: the points of one locality. Needs no Trimtab: the same program in plain MPI uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "parts.hpp"

namespace workload::heat {

inline double start_of(std::int64_t point) { return static_cast<double>(mixed(static_cast<std::uint64_t>(point)) % 1000); }
inline double next_of(double lower, double own, double upper) { return own + 0.25 * (lower - 2 * own + upper); }

inline std::vector<double> start_of(span_of_items part) {
  std::vector<double> points;
  for (std::int64_t point = part.first; point < part.last; ++point) points.push_back(start_of(point));
  return points;
}

// One step; lower and upper: the points beside these.
inline void advance(std::vector<double>& points, double lower, double upper) {
  double previous = lower;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double own = points[i];
    points[i] = next_of(previous, own, i + 1 < points.size() ? points[i + 1] : upper);
    previous = own;
  }
}

// Points from `first` on that differ from the serial result.
inline std::uint64_t count_wrong(const std::vector<double>& points, std::int64_t first, std::int64_t count,
                                 std::int64_t steps) {
  std::vector<double> serial = start_of({0, count});
  for (std::int64_t step = 0; step < steps; ++step) {
    const double lower = serial.back(), upper = serial.front();
    advance(serial, lower, upper);
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i) wrong += points[i] != serial[static_cast<std::size_t>(first) + i];
  return wrong;
}

}  // namespace workload::heat
