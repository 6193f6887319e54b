// How far apart the members of the program's own regions reach their ends: what tells of members without a CPU where the
// kernel does not. Only noted where numbers of threads may be changed. The thread that forks notes, the steering thread
// takes; of the moment in which both do, one region may be missing.
#pragma once

#include <atomic>

#include "trimtab/base/clock.hpp"

namespace trimtab::openmp {

inline std::atomic<base::ticks> longest_skew{0};

inline void note_skew(base::ticks skew) noexcept {
  if (skew > longest_skew.load(std::memory_order_relaxed)) longest_skew.store(skew, std::memory_order_relaxed);
}
// Since the last call.
inline base::ticks take_longest_skew() noexcept { return longest_skew.exchange(0, std::memory_order_relaxed); }

}  // namespace trimtab::openmp
