// How long members of outermost teams wait, from one fork to the next: for their start, inside the region, for its end, and,
// but for the one that forks, for the next region. Only noted while somebody looks at how threads wait. Noted by the lanes
// that fork, taken by the steering thread.
#pragma once

#include "accounting/lane_state.hpp"

namespace trimtab::openmp {

inline std::atomic<ticks> waits_timed_since{0};  // 0: they are not
// Written by each region then: far from what its members read.
alignas(64) inline std::atomic<std::uint64_t> wait_passages{0};
inline std::atomic<ticks> waits_per_member{0};  // the sum over passages of the mean over their members

inline bool is_timing_waits() noexcept { return waits_timed_since.load(std::memory_order_relaxed) != 0; }

// A region of `threads` members is over, which worked for so long together.
inline void note_passage(lane_state& forker, ticks forked_at, ticks end, std::uint32_t threads, ticks all_work) noexcept {
  const ticks wall = end - forked_at, work = all_work / threads;
  // Noted of the one before it; what came after that may else not have been watched.
  const bool is_next = forker.joined_at > waits_timed_since.load(std::memory_order_relaxed) && forked_at > forker.joined_at;
  const ticks gap = is_next ? forked_at - forker.joined_at : 0;
  forker.joined_at = end;
  wait_passages.fetch_add(1, std::memory_order_relaxed);
  waits_per_member.fetch_add((wall > work ? wall - work : 0) + gap - gap / threads, std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
