#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

std::optional<std::uint32_t> subject_info::place_of(std::string_view knob_name) const noexcept {
  for (std::uint32_t i = 0; i < knobs.size(); ++i)
    if (knobs[i].name == knob_name) return i;
  return std::nullopt;
}

}  // namespace trimtab::steer
