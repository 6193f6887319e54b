// How much of a region is recorded: one field for each, written by the steering side whenever what it needs changes, and
// read by the recording side, which decides at each fork what the new instance is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trimtab/base/hash.hpp"

namespace trimtab::openmp {

// Of an instance: what is recorded of it. Of a region: the least that somebody needs of its instances; one that is not
// short, or has constructs, has the members of all instances timed whatever this says.
enum class region_mode : std::uint8_t {
  counted,     // nothing but that it was: no clock is read. Of a region: a small sample has its members timed
  sampled,     // the forker stamps fork and join, the members are left to the sample
  timed,       // members are timed. Of a region: in a sample only if it is short each time
  shared_out,  // so are its loops, which may be shared out in another way
};

struct region_rule {
  region_mode mode = region_mode::sampled;
  std::uint8_t sample_divisor = 1;        // the sample has so many times fewer instances
  std::uint8_t loops_watched_one_in = 0;  // of instances with timed members, so that their mode is shared_out; 0: none
  bool is_sampled_by_mean = true;         // also where it is short in the mean only
};
static_assert(sizeof(region_rule) == 4 && std::atomic<region_rule>::is_always_lock_free);

// Regions by their outlined functions; those that fall together have the strictest rule of all.
inline constexpr std::size_t region_places = 256;
inline std::size_t region_place_of(const void* outlined) noexcept {
  return base::mix_fast(reinterpret_cast<std::uintptr_t>(outlined)) % region_places;
}

using shared_rule = std::atomic<region_rule>;
extern std::array<shared_rule, region_places> region_rules;
inline const shared_rule& rule_at(const void* outlined) noexcept { return region_rules[region_place_of(outlined)]; }

// Whether this instance is one of so many: not in step with anything that the program does. one_in: a power of two; 0: none
// is.
inline bool is_drawn(std::uint64_t instance, std::uint32_t period) noexcept {
  return period == 1 || (period != 0 && (base::mix_fast(instance) & (period - 1)) == 0);
}

}  // namespace trimtab::openmp
