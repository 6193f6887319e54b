// The counters of a runtime, by path: "/threads{locality#0/worker-thread#1}/idle-rate". Counting is always on; a counter
// is computed from a snapshot of what the workers have counted, or from the difference of two: an interval.
//
//   for (const counter& each : find_counters(rt, "/threads{locality#0/worker-thread#*}/idle-rate")) ...
//   const snapshot before(rt);  ...;  each.value(snapshot(rt), before)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/base/clock.hpp"

namespace trimtab::tasks {

class runtime;

struct counter_type {
  const char* path;  // without instance: "/threads/idle-rate"
  const char* unit;
  bool is_exact;
  const char* meaning;
  bool is_level;  // holds for the moment; the others are of a time
};

const std::vector<counter_type>& counter_types();

// Counts of one worker, or sums over all.
struct raw_counts {
  std::uint64_t in_place = 0, started = 0, resumed = 0, suspended = 0, created = 0, finished = 0, parks = 0, stacks = 0;
  std::uint64_t accesses = 0, misses = 0, stolen = 0, steals = 0, queued = 0;
  std::uint64_t busy = 0, looking = 0, parked = 0, capped = 0;  // clock ticks, to the moment
  std::uint64_t timed = 0, timed_ticks = 0, gap_ticks = 0;
};

// Counts of all workers, read within some microseconds.
struct snapshot {
  snapshot() = default;
  explicit snapshot(const runtime& owner);
  base::ticks at = 0;
  double ns_per_tick = 1;
  std::vector<raw_counts> workers;
  raw_counts total;  // and what threads outside have made
};

class counter {
 public:
  static constexpr std::int32_t every_worker = -1;
  counter(std::size_t type, std::int32_t worker) noexcept : m_type(type), m_worker(worker) {}

  const counter_type& type() const noexcept { return counter_types()[m_type]; }
  // With instance: "/threads{locality#0/total}/idle-rate".
  std::string path() const;
  // In type().unit, over the time from `first` (if empty: the runtime's start) to `last`. NaN: the divisor is 0.
  double value(const snapshot& last, const snapshot& first = {}) const;

 private:
  std::size_t m_type;
  std::int32_t m_worker;
};

// The counters that `path` names. Without an instance: the total. "*" stands for every worker (worker-thread#*) or, at the
// end, for the rest of a path ("/threads/count/*"). Throws std::invalid_argument, which names the part that is wrong.
std::vector<counter> find_counters(const runtime& owner, std::string_view path);

}  // namespace trimtab::tasks
