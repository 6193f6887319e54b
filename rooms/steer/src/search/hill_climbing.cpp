// Discrete hill climbing with steps that shrink (pattern search; Hooke, Jeeves 1961): along one dimension at a time, in
// random order, first far, then near. Categories have no near and far: all others are tried.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

namespace {

std::vector<point> neighbours(const space& dimensions, const point& at, std::size_t axis, double share) {
  const dimension& dimension = dimensions.dimensions[axis];
  std::vector<point> all;
  if (!dimension.is_ordered) {
    for (std::uint32_t value = 0; value < dimension.size; ++value) {
      if (value == at[axis]) continue;
      all.push_back(at);
      all.back()[axis] = value;
    }
    return all;
  }
  const auto step = std::max(1u, static_cast<std::uint32_t>(share * dimension.size));
  if (at[axis] + 1 < dimension.size) {
    all.push_back(at);
    all.back()[axis] = std::min(at[axis] + step, dimension.size - 1);
  }
  if (at[axis] > 0) {
    all.push_back(at);
    all.back()[axis] = at[axis] - std::min(at[axis], step);
  }
  return all;
}

}  // namespace

search_sequence hill_climbing(const space& dimensions, const search_limits& limits) {
  random_source source(limits.seed);
  std::vector<point> wanted{first_guess(dimensions, limits)};
  point at = wanted.front();
  const std::vector<double> begin = co_await measured(wanted);
  double value = begin.front();
  std::uint32_t largest = 1;
  for (const dimension& dimension : dimensions.dimensions) largest = std::max(largest, dimension.size);
  std::vector<std::size_t> order(dimensions.dimensions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (double share = 0.5;;) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[source.below(i)]);
    bool is_better = false;
    for (const std::size_t axis : order) {
      wanted = neighbours(dimensions, at, axis, share);
      const std::vector<double> values = co_await measured(wanted);
      const auto smallest = std::min_element(values.begin(), values.end());
      if (smallest == values.end() || *smallest >= value) continue;
      at = wanted[static_cast<std::size_t>(smallest - values.begin())];
      value = *smallest;
      is_better = true;
    }
    if (is_better) continue;
    if (share * largest <= 1) co_return;
    share /= 2;
  }
}

}  // namespace trimtab::steer::algorithms
