// Begins with what was diagnosed: the hints, best guess first. Only from one that is better than the start it goes on, by
// single steps; with nothing diagnosed it explores nothing.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence diagnosed(const space& over, const search_limits& within) {
  std::vector<point> wanted;
  for (const point& hint : within.hints)
    if (over.contains(hint)) wanted.push_back(hint);
  if (wanted.empty()) co_return;
  wanted.insert(wanted.begin(), over.start);
  const std::vector<double> begin = co_await measured(wanted);
  const auto least = std::min_element(begin.begin(), begin.end());
  if (least == begin.begin()) co_return;
  point at = wanted[static_cast<std::size_t>(least - begin.begin())];
  double value = *least;
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (std::size_t along = 0; along < at.size(); ++along) {
      if (!over.dimensions[along].is_ordered) continue;
      // As long as it gets better in one direction, on in it.
      for (const int step : {1, -1}) {
        for (;;) {
          const std::int64_t to = std::int64_t{at[along]} + step;
          if (to < 0 || to >= over.dimensions[along].size) break;
          wanted = {at};
          wanted.front()[along] = static_cast<std::uint32_t>(to);
          const std::vector<double> there = co_await measured(wanted);
          if (there.front() >= value) break;
          at = wanted.front();
          value = there.front();
          is_better = true;
        }
      }
    }
  }
}

}  // namespace trimtab::steer::algorithms
