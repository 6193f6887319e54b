// The simplex of Nelder and Mead (1965) over the grid: it moves in real numbers, the nearest point of the grid is measured.
#include "algorithms.hpp"

namespace trimtab::steer::algorithms {

search_sequence nelder_mead(const space& dimensions, const search_limits& limits) {
  constexpr int most_moves = 500;
  std::vector<corner> corners = simplex_around(dimensions, first_guess(dimensions, limits), false);
  std::vector<point> wanted;
  wanted.reserve(corners.size());
  for (const corner& corner : corners) wanted.push_back(nearest(dimensions, corner.at));
  const std::vector<double> begin = co_await measured(wanted);
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i].value = begin[i];
  wanted.resize(1);
  for (int move = 0; move < most_moves && corners.size() > 1; ++move) {
    sort_by_value(corners);
    if (is_collapsed(dimensions, corners)) break;
    corner& worst = corners.back();
    std::vector<double> centre(dimensions.dimensions.size(), 0);
    for (std::size_t i = 0; i + 1 < corners.size(); ++i)
      for (std::size_t d = 0; d < centre.size(); ++d)
        centre[d] += corners[i].at[d] / static_cast<double>(corners.size() - 1);

    corner reflected{beyond(centre, worst.at, 1), 0};
    wanted.front() = nearest(dimensions, reflected.at);
    const std::vector<double> values = co_await measured(wanted);
    reflected.value = values.front();
    if (reflected.value < corners.front().value) {
      corner expanded{beyond(centre, worst.at, 2), 0};
      wanted.front() = nearest(dimensions, expanded.at);
      const std::vector<double> further = co_await measured(wanted);
      expanded.value = further.front();
      worst = expanded.value < reflected.value ? expanded : reflected;
      continue;
    }
    if (reflected.value < corners[corners.size() - 2].value) {
      worst = reflected;
      continue;
    }
    const bool is_reflected_better = reflected.value < worst.value;
    corner contracted{beyond(centre, worst.at, is_reflected_better ? 0.5 : -0.5), 0};
    wanted.front() = nearest(dimensions, contracted.at);
    const std::vector<double> value_inside = co_await measured(wanted);
    contracted.value = value_inside.front();
    if (contracted.value < std::min(worst.value, reflected.value)) {
      worst = contracted;
      continue;
    }
    for (std::size_t i = 1; i < corners.size(); ++i) {
      corners[i].at = beyond(corners[i].at, corners.front().at, -0.5);
      wanted.front() = nearest(dimensions, corners[i].at);
      const std::vector<double> shrunk = co_await measured(wanted);
      corners[i].value = shrunk.front();
    }
  }
}

}  // namespace trimtab::steer::algorithms
