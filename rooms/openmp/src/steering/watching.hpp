// How often the loops of a region are watched. To ask which loop it is and to time it costs each member some 0.2 us, and
// as much again where the region works on so much memory that what is needed for it is in no cache. So once it is known
// that a region's loops are short in the mean, and until another way of sharing them out is kept, they are watched in one
// instance of several only; a way on trial is tried in those. What the other ones do is what the program wrote.
//
// The forker decides, for all members of an instance; so they do the same whatever the steering thread says meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "accounting/region_mode.hpp"
#include "steering/recording_ports.hpp"

namespace trimtab::openmp {

inline constexpr std::uint32_t watched_one_in = 8;
// no_loop: none was seen that could be changed. Its instances are watched all the same, but need not be.
enum class watching : std::uint8_t { no_loop, always, rarely };
extern std::array<std::atomic<watching>, region_places> watching_of_regions;

inline watching watching_of(const void* outlined) noexcept {
  return watching_of_regions[region_place_of(outlined)].load(std::memory_order_relaxed);
}
inline void watch(const void* outlined, watching watch_mode) noexcept {
  watching_of_regions[region_place_of(outlined)].store(watch_mode);
  update_rule(region_place_of(outlined));
}
inline void forget_watching() noexcept {
  for (auto& watching_of_region : watching_of_regions) watching_of_region.store(watching::no_loop);
  update_recording();
}

}  // namespace trimtab::openmp
