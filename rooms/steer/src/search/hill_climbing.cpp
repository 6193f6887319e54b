// Discrete hill climbing with steps that shrink (pattern search; Hooke, Jeeves 1961): along one dimension at a time, in
// random order, first far, then near. Categories have no near and far: all others are tried.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

namespace {

std::vector<point> neighbours(const space& over, const point& at, std::size_t along, double share) {
  const dimension& of = over.dimensions[along];
  std::vector<point> all;
  if (!of.is_ordered) {
    for (std::uint32_t value = 0; value < of.size; ++value) {
      if (value == at[along]) continue;
      all.push_back(at);
      all.back()[along] = value;
    }
    return all;
  }
  const auto step = std::max(1u, static_cast<std::uint32_t>(share * of.size));
  if (at[along] + 1 < of.size) {
    all.push_back(at);
    all.back()[along] = std::min(at[along] + step, of.size - 1);
  }
  if (at[along] > 0) {
    all.push_back(at);
    all.back()[along] = at[along] - std::min(at[along], step);
  }
  return all;
}

}  // namespace

search_sequence hill_climbing(const space& over, const search_limits& within) {
  random_source source(within.seed);
  std::vector<point> wanted{first_guess(over, within)};
  point at = wanted.front();
  const std::vector<double> begin = co_await measured(wanted);
  double value = begin.front();
  std::uint32_t largest = 1;
  for (const dimension& each : over.dimensions) largest = std::max(largest, each.size);
  std::vector<std::size_t> order(over.dimensions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (double share = 0.5;;) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[source.below(i)]);
    bool is_better = false;
    for (const std::size_t along : order) {
      wanted = neighbours(over, at, along, share);
      const std::vector<double> values = co_await measured(wanted);
      const auto least = std::min_element(values.begin(), values.end());
      if (least == values.end() || *least >= value) continue;
      at = wanted[static_cast<std::size_t>(least - values.begin())];
      value = *least;
      is_better = true;
    }
    if (is_better) continue;
    if (share * largest <= 1) co_return;
    share /= 2;
  }
}

}  // namespace trimtab::steer::algorithms
