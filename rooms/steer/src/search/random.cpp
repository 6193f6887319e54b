// Points drawn evenly: what every cleverer search has to beat (Bergstra, Bengio 2012).
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence random(const space& dimensions, const search_limits& limits) {
  random_source source(limits.seed);
  std::vector<point> wanted{dimensions.start};
  // Points drawn twice cost nothing; the search ends when it draws nothing new for long, or by its limit.
  for (;;) {
    for (std::size_t i = 0; i < dimensions.dimensions.size(); ++i)
      wanted.front()[i] = static_cast<std::uint32_t>(source.below(dimensions.dimensions[i].size));
    co_await measured(wanted);
  }
}

}  // namespace trimtab::steer::algorithms
