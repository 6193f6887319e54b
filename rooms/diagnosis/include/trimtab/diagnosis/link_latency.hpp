// How long after their steps' begins links lead on, where the pieces of steps are as long as a replay has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trimtab/diagnosis/replay.hpp"

namespace trimtab::diagnosis {

// Of links in columns of the caller's. Steps consist of pieces that follow each other.
struct link_moments {
  std::size_t count;
  const std::int32_t* piece;        // in which the link leads on; below 0: at the end of its step
  const step_index* from;           // that step
  const std::int64_t* within_ns;    // how far into the piece, in the recorded run
  const std::int64_t* latency_ns;   // what passes from that moment, or from the end
  const std::int64_t* first_piece;  // of each step
  const std::int64_t* recorded_ns;  // how long each piece was
  const double* before_ns;          // how long all pieces before each one are now; and one behind the last
};

// Writes, for each link, what passes from the begin of its step, or from its end. A moment inside a piece stays at the same
// share of it.
void write_latencies(const link_moments& links, std::span<std::int64_t> to);

}  // namespace trimtab::diagnosis
