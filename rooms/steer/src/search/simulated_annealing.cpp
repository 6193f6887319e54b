// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983): a worse point is accepted with a probability that falls with how
// much worse it is, as a share of the value, and with a temperature that falls evenly on a logarithmic scale, with each
// point that is new: what is known already costs no measurement, so it takes none of the search's moves. Steps shrink with
// it.
#include <set>

#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence simulated_annealing(const space& over, const search_limits& within) {
  constexpr double hottest = 0.3, coldest = 0.01;
  random_source source(within.seed);
  const double moves = std::max(1.0, static_cast<double>(std::min<std::uint64_t>(within.most_evaluations, over.points())));
  const double cooling = std::pow(coldest / hottest, 1 / moves);
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < over.dimensions.size(); ++i)
    if (over.dimensions[i].size > 1) movable.push_back(i);
  std::vector<point> wanted{first_guess(over, within)};
  point at = wanted.front();
  const std::vector<double> begin = co_await measured(wanted);
  double value = begin.front();
  if (movable.empty()) co_return;
  std::set<point> visited{over.canonical(at)};
  double temperature = hottest;
  while (temperature > coldest) {
    const std::size_t along = movable[source.below(movable.size())];
    const dimension& of = over.dimensions[along];
    wanted.front() = at;
    if (of.is_ordered) {
      const auto reach = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(of.size * temperature / hottest / 2));
      const auto step = static_cast<std::uint32_t>(1 + source.below(reach));
      const bool is_up = at[along] == 0 || (at[along] + 1 < of.size && source.coin());
      wanted.front()[along] = is_up ? std::min(at[along] + step, of.size - 1) : at[along] - std::min(at[along], step);
    } else {
      wanted.front()[along] = (at[along] + 1 + static_cast<std::uint32_t>(source.below(of.size - 1))) % of.size;
    }
    const std::vector<double> values = co_await measured(wanted);
    const double worse = (values.front() - value) / std::max(value, 1e-300);
    const bool is_refused = !(worse <= 0) && source.share() >= std::exp(-worse / temperature);
    if (visited.insert(over.canonical(wanted.front())).second) temperature *= cooling;
    if (is_refused) continue;
    at = wanted.front();
    value = values.front();
  }
}

}  // namespace trimtab::steer::algorithms
