// How long members of outermost teams wait, from one fork to the next: for their start, inside the region, for its end, and,
// but for the one that forks, for the next region. Only noted while somebody looks at how threads wait. Noted by the lanes
// that fork, taken by the steering thread.
#pragma once

#include "team.hpp"

namespace trimtab::openmp {

inline std::atomic<bool> is_timing_waits{false};
inline std::atomic<std::uint64_t> wait_passages{0};
inline std::atomic<ticks> waits_per_member{0};  // the sum over passages of the mean over their members

// A region of `threads` members is over, which worked for so long together.
inline void note_passage(lane_state& forker, ticks forked_at, ticks end, std::uint32_t threads, ticks all_work) noexcept {
  const ticks wall = end - forked_at, work = all_work / threads;
  const ticks between = forker.joined_at == 0 || forked_at < forker.joined_at ? 0 : forked_at - forker.joined_at;
  forker.joined_at = end;
  wait_passages.fetch_add(1, std::memory_order_relaxed);
  waits_per_member.fetch_add((wall > work ? wall - work : 0) + between - between / threads, std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
