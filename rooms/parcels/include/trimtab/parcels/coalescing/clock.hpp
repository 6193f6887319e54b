// The time by which parcels are coalesced. A simulation of localities sets it; otherwise it is that of the machine.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::parcels {

// In ns, from 1; one tick is one nanosecond then. 0: nothing is simulated. Of the whole process: while it is set, no real job
// may be open.
inline constinit std::atomic<base::ticks> simulated_time{0};

inline base::ticks current_ticks() noexcept {
  const base::ticks simulated = simulated_time.load(std::memory_order_relaxed);
  return simulated == 0 ? base::now() : simulated;
}
inline std::uint64_t current_ns() noexcept {
  const base::ticks simulated = simulated_time.load(std::memory_order_relaxed);
  return simulated == 0 ? base::monotonic_ns() : simulated;
}

}  // namespace trimtab::parcels
