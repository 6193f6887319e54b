// Parallel rank order (Tabatabaee, Tiwari, Hollingsworth 2005): all corners of a simplex are reflected through the best at
// once, so that as many processes as there are corners can measure at the same time.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

namespace {

std::vector<corner> moved(const std::vector<corner>& corners, double factor) {
  std::vector<corner> all;
  for (std::size_t i = 1; i < corners.size(); ++i) all.push_back({beyond(corners.front().at, corners[i].at, factor), 0});
  return all;
}

std::vector<point> points_of(const space& dimensions, const std::vector<corner>& corners) {
  std::vector<point> all;
  all.reserve(corners.size());
  for (const corner& corner : corners) all.push_back(nearest(dimensions, corner.at));
  return all;
}

void take(std::vector<corner>& corners, const std::vector<corner>& moved) {
  std::copy(moved.begin(), moved.end(), corners.begin() + 1);
}

}  // namespace

search_sequence parallel_rank_order(const space& dimensions, const search_limits& limits) {
  constexpr int most_moves = 200;
  std::vector<corner> corners = simplex_around(dimensions, first_guess(dimensions, limits), true);
  std::vector<point> wanted = points_of(dimensions, corners);
  const std::vector<double> begin = co_await measured(wanted);
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i].value = begin[i];
  for (int move = 0; move < most_moves; ++move) {
    sort_by_value(corners);
    if (is_collapsed(dimensions, corners)) break;
    std::vector<corner> reflected = moved(corners, 1);
    wanted = points_of(dimensions, reflected);
    const std::vector<double> values = co_await measured(wanted);
    for (std::size_t i = 0; i < reflected.size(); ++i) reflected[i].value = values[i];
    const auto smallest = static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
    if (reflected[smallest].value < corners.front().value) {
      // The most promising is tried further out before all go there.
      std::vector<corner> expanded = moved(corners, 2);
      wanted = {nearest(dimensions, expanded[smallest].at)};
      const std::vector<double> first = co_await measured(wanted);
      if (first.front() < reflected[smallest].value) {
        wanted = points_of(dimensions, expanded);
        const std::vector<double> further = co_await measured(wanted);
        for (std::size_t i = 0; i < expanded.size(); ++i) expanded[i].value = further[i];
        take(corners, expanded);
      } else {
        take(corners, reflected);
      }
      continue;
    }
    std::vector<corner> shrunk = moved(corners, -0.5);
    wanted = points_of(dimensions, shrunk);
    const std::vector<double> nearer = co_await measured(wanted);
    for (std::size_t i = 0; i < shrunk.size(); ++i) shrunk[i].value = nearer[i];
    take(corners, shrunk);
  }
}

}  // namespace trimtab::steer::algorithms
