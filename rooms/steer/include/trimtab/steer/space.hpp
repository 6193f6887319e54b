// What a search searches: points of a grid, one coordinate a knob, each the index of a value in its domain.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trimtab/steer/knob.hpp"

namespace trimtab::steer {

using point = std::vector<std::uint32_t>;

struct dimension {
  std::uint32_t size = 1;
  bool is_ordered = true;
};

struct space {
  std::vector<dimension> dimensions;
  point start;  // the incumbent
  // The one of those that mean the same (the chunk of a schedule that has none) which is measured for all. None: each for
  // itself.
  std::function<point(point)> same_as;

  std::uint64_t points() const noexcept;  // at most 2^63
  point canonical(point at) const { return same_as ? same_as(std::move(at)) : at; }
  bool contains(const point& at) const noexcept;
};

// The space of these knobs from these values on, which are of their domains.
space space_of(const std::vector<knob>& knobs, const std::vector<knob_value>& from);
std::vector<knob_value> values_at(const std::vector<knob>& knobs, const point& at);

}  // namespace trimtab::steer
