// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983): a worse point is accepted with a probability that falls with how
// much worse it is, as a share of the value, and with a temperature that falls evenly on a logarithmic scale, with each
// point that is new: what is known already costs no measurement, so it takes none of the search's moves. Steps shrink with
// it.
#include <set>

#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence simulated_annealing(const space& dimensions, const search_limits& limits) {
  constexpr double hottest = 0.3, coldest = 0.01;
  random_source source(limits.seed);
  const double moves =
      std::max(1.0, static_cast<double>(std::min<std::uint64_t>(limits.most_evaluations, dimensions.points())));
  const double cooling = std::pow(coldest / hottest, 1 / moves);
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < dimensions.dimensions.size(); ++i)
    if (dimensions.dimensions[i].size > 1) movable.push_back(i);
  std::vector<point> wanted{first_guess(dimensions, limits)};
  point at = wanted.front();
  const std::vector<double> begin = co_await measured(wanted);
  double value = begin.front();
  if (movable.empty()) co_return;
  std::set<point> visited{dimensions.canonical(at)};
  double temperature = hottest;
  while (temperature > coldest) {
    const std::size_t axis = movable[source.below(movable.size())];
    const dimension& dimension = dimensions.dimensions[axis];
    wanted.front() = at;
    if (dimension.is_ordered) {
      const auto reach = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(dimension.size * temperature / hottest / 2));
      const auto step = static_cast<std::uint32_t>(1 + source.below(reach));
      const bool is_upward = at[axis] == 0 || (at[axis] + 1 < dimension.size && source.coin());
      wanted.front()[axis] = is_upward ? std::min(at[axis] + step, dimension.size - 1) : at[axis] - std::min(at[axis], step);
    } else {
      wanted.front()[axis] = (at[axis] + 1 + static_cast<std::uint32_t>(source.below(dimension.size - 1))) % dimension.size;
    }
    const std::vector<double> values = co_await measured(wanted);
    const double worse = (values.front() - value) / std::max(value, 1e-300);
    const bool is_refused = !(worse <= 0) && source.share() >= std::exp(-worse / temperature);
    if (visited.insert(dimensions.canonical(wanted.front())).second) temperature *= cooling;
    if (is_refused) continue;
    at = wanted.front();
    value = values.front();
  }
}

}  // namespace trimtab::steer::algorithms
