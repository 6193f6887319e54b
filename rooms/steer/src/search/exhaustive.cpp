// Every point, in the order of the grid: the best there is, for what it costs.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence exhaustive(const space& dimensions, const search_limits&) {
  point at(dimensions.dimensions.size(), 0);
  std::vector<point> wanted{at};
  for (bool is_finished = at.empty(); !is_finished;) {
    wanted.front() = at;
    co_await measured(wanted);
    // Counts up, the last dimension fastest.
    is_finished = true;
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < dimensions.dimensions[i].size) {
        is_finished = false;
        break;
      }
      at[i] = 0;
    }
  }
}

}  // namespace trimtab::steer::algorithms
