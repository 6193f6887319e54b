// The search algorithms, one a file, and what they share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "trimtab/steer/random.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::steer::algorithms {

search_sequence exhaustive(const space& dimensions, const search_limits& limits);
search_sequence random(const space& dimensions, const search_limits& limits);
search_sequence hill_climbing(const space& dimensions, const search_limits& limits);
search_sequence nelder_mead(const space& dimensions, const search_limits& limits);
search_sequence parallel_rank_order(const space& dimensions, const search_limits& limits);
search_sequence simulated_annealing(const space& dimensions, const search_limits& limits);
search_sequence diagnosed(const space& dimensions, const search_limits& limits);

struct corner {
  std::vector<double> at;
  double value = 0;
};

// The point of the grid that is nearest to a place; places outside are brought to the border.
point nearest(const space& dimensions, const std::vector<double>& at);
std::vector<double> place_of(const point& at);
// a + factor * (a - b)
std::vector<double> beyond(const std::vector<double>& a, const std::vector<double>& b, double factor);
void sort_by_value(std::vector<corner>& corners);
// All the same point of the grid: a simplex that has nowhere to go.
bool is_collapsed(const space& dimensions, const std::vector<corner>& corners);
// The start and, for each dimension, a point on the side of it that has more room; PRO takes both sides.
std::vector<corner> simplex_around(const space& dimensions, const point& start, bool is_both_sides);
point first_guess(const space& dimensions, const search_limits& limits);

}  // namespace trimtab::steer::algorithms
