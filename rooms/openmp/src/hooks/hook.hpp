// What every hook file needs: what a hook is, and who called it.
#pragma once

#include "accounting/lane_state.hpp"
#include "trimtab/base/hook.hpp"

#define TRIMTAB_CALLER caller_at(__builtin_return_address(0), entry::gomp)
#define TRIMTAB_PLACE place_of_call(__builtin_return_address(0))

namespace trimtab::openmp {

// Iterations of first, first + increment, ... before last, without overflow over the whole range of `number`.
template <class number>
std::uint64_t count_of(number first, number last, std::int64_t increment) noexcept {
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
  if (increment > 0 && last > first) return (to - from - 1) / static_cast<std::uint64_t>(increment) + 1;
  if (increment < 0 && first > last) return (from - to - 1) / (std::uint64_t{0} - static_cast<std::uint64_t>(increment)) + 1;
  return 0;
}

// Packed in the low bits of the schedule argument of GOMP_loop_start (OpenMP 5 with reductions).
inline observe::schedule schedule_of(long packed) noexcept {
  using observe::schedule;
  constexpr long monotonic = 1L << 31;
  switch (packed & ~monotonic) {
    case 0:
      return schedule::runtime;
    case 1:
      return schedule::static_;
    case 2:
      return schedule::dynamic;
    case 3:
      return schedule::guided;
    case 4:
      return schedule::auto_;
    default:
      return schedule::runtime;
  }
}

}  // namespace trimtab::openmp
