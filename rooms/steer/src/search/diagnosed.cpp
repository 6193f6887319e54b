// Begins with what was diagnosed: the hints, best guess first. Only from one that is better than the start it goes on, by
// single steps; with nothing diagnosed it explores nothing.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence diagnosed(const space& dimensions, const search_limits& limits) {
  std::vector<point> wanted;
  for (const point& hint : limits.hints)
    if (dimensions.contains(hint)) wanted.push_back(hint);
  if (wanted.empty()) co_return;
  wanted.insert(wanted.begin(), dimensions.start);
  const std::vector<double> begin = co_await measured(wanted);
  const auto smallest = std::min_element(begin.begin(), begin.end());
  if (smallest == begin.begin()) co_return;
  point at = wanted[static_cast<std::size_t>(smallest - begin.begin())];
  double value = *smallest;
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (!dimensions.dimensions[axis].is_ordered) continue;
      // As long as it gets better in one direction, on in it.
      for (const int step : {1, -1}) {
        for (;;) {
          const std::int64_t to = std::int64_t{at[axis]} + step;
          if (to < 0 || to >= dimensions.dimensions[axis].size) break;
          wanted = {at};
          wanted.front()[axis] = static_cast<std::uint32_t>(to);
          const std::vector<double> values = co_await measured(wanted);
          if (values.front() >= value) break;
          at = wanted.front();
          value = values.front();
          is_better = true;
        }
      }
    }
  }
}

}  // namespace trimtab::steer::algorithms
