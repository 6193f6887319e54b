// The time by which parcels are coalesced: the real one, or that of a simulation that runs this code.
//
// One simulation per process at a time. Only what coalesces reads this clock; transports keep the real one.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::parcels {

// The time of the simulation in ns, which are also its ticks; 0: the real clock. Relaxed: a simulation has one thread.
inline constinit std::atomic<std::uint64_t> simulated_ns{0};

inline bool is_simulated() noexcept { return simulated_ns.load(std::memory_order_relaxed) != 0; }

inline base::ticks current_ticks() noexcept {
  const std::uint64_t simulated = simulated_ns.load(std::memory_order_relaxed);
  if (simulated != 0) [[unlikely]]
    return simulated;
  return base::now();
}

inline std::uint64_t current_monotonic_ns() noexcept {
  const std::uint64_t simulated = simulated_ns.load(std::memory_order_relaxed);
  if (simulated != 0) [[unlikely]]
    return simulated;
  return base::monotonic_ns();
}

}  // namespace trimtab::parcels
