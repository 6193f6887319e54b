// The work-sharing loops of a lane: those that its team's members divide, and those that GCC has inlined.
#pragma once

#include "trimtab/base/clock.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

using base::ticks;
using observe::lane;
using observe::no_subject;

struct lane_context;

// A loop that the fork call itself started (GOMP_parallel_loop_*).
struct loop_start {
  observe::schedule schedule = observe::schedule::none;
  std::uint64_t chunk = 0;
  std::uint64_t trip = observe::unknown;
  std::int64_t increment = 1;
  const void* place = nullptr;  // nullptr: none
};

// A loop in its own numbering: first, first + increment, ... before `last`.
struct loop_to_share {
  observe::schedule written;
  std::uint64_t trip;
  std::uint64_t chunk;
  std::uint64_t first;
  std::uint64_t last;
  std::int64_t increment;
};

// The work-sharing loop that a lane is in.
struct open_loop {
  observe::profile_row* row = nullptr;  // nullptr: not in a loop
  std::uint32_t subject = 0;
  observe::schedule schedule = observe::schedule::none;
  std::int64_t increment = 1;
  ticks begin = 0;
  std::uint64_t iterations = 0;
  std::uint64_t chunks = 0;
  std::uint32_t dimensions = 0;  // of a doacross loop
};

// A static loop that GCC has inlined, recognised at its place before.
struct inferred_loop {
  const void* place = nullptr;
  std::uint32_t region = no_subject;
  observe::profile_row* row = nullptr;
};

// Loops. first/last in iterations of the loop's own numbering; count = iterations of the chunk taken.
void begin_loop(const lane_context& context, const loop_start& start, const char* source = nullptr) noexcept;
void take_chunk(const lane_context& context, std::int64_t first, std::uint64_t count) noexcept;
void end_loop(const lane_context& context) noexcept;
void inferred_loop_passed(const lane_context& context, const void* place) noexcept;

}  // namespace trimtab::openmp
