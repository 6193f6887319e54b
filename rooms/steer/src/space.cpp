#include "trimtab/steer/space.hpp"

namespace trimtab::steer {

std::uint64_t space::points() const noexcept {
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  std::uint64_t all = 1;
  for (const dimension& dimension : dimensions) {
    if (all > most / dimension.size) return most;
    all *= dimension.size;
  }
  return all;
}

bool space::contains(const point& at) const noexcept {
  if (at.size() != dimensions.size()) return false;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (at[i] >= dimensions[i].size) return false;
  return true;
}

space space_of(const std::vector<knob>& knobs, const std::vector<knob_value>& from) {
  space all;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    all.dimensions.push_back({static_cast<std::uint32_t>(knobs[i].values.size()), knobs[i].values.is_ordered()});
    all.start.push_back(static_cast<std::uint32_t>(knobs[i].values.nearest_index(from[i])));
  }
  return all;
}

std::vector<knob_value> values_at(const std::vector<knob>& knobs, const point& at) {
  std::vector<knob_value> values;
  values.reserve(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) values.push_back(knobs[i].values.at(at[i]));
  return values;
}

}  // namespace trimtab::steer
