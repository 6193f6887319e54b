// Every point, in the order of the grid: the best there is, for what it costs.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence exhaustive(const space& over, const search_limits&) {
  point at(over.dimensions.size(), 0);
  std::vector<point> wanted{at};
  for (bool is_over = at.empty(); !is_over;) {
    wanted.front() = at;
    co_await measured(wanted);
    // Counts up, the last dimension fastest.
    is_over = true;
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < over.dimensions[i].size) {
        is_over = false;
        break;
      }
      at[i] = 0;
    }
  }
}

}  // namespace trimtab::steer::algorithms
