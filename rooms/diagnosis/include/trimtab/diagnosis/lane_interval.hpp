// What a lane does from one moment to another. A lane is whatever executes: a thread, a worker, a server.
#pragma once

#include <cstdint>

namespace trimtab::diagnosis {

using lane_index = std::uint32_t;
using interval_index = std::uint32_t;
inline constexpr lane_index no_lane = 0xffffffffu;
inline constexpr interval_index no_interval = 0xffffffffu;

enum class interval_kind : std::uint8_t {
  busy = 0,      // computes
  waiting = 1,   // until `giver` does something, at the end of this interval
  resuming = 2,  // what it waited for is there; it has not gone on yet
  stopped = 3,   // could run, and has no CPU
};

// At least one nanosecond. Intervals of a lane do not overlap.
struct lane_interval {
  std::int64_t begin_ns = 0, end_ns = 0;
  lane_index lane = 0;
  lane_index giver = no_lane;  // of a wait; no_lane: not known
  std::uint32_t group = 0;     // the caller's: what kind of wait, or which subject; results are by group
  interval_kind kind = interval_kind::busy;
};

}  // namespace trimtab::diagnosis
