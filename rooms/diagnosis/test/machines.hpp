// Lanes for tests: by hand, and random ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "trimtab/diagnosis/lane_interval.hpp"

namespace trimtab::diagnosis::machines {

inline lane_interval busy(lane_index lane, std::int64_t begin, std::int64_t end, std::uint32_t group = 0) {
  return {.begin_ns = begin, .end_ns = end, .lane = lane, .group = group};
}
inline lane_interval waiting(lane_index lane, std::int64_t begin, std::int64_t end, lane_index giver,
                             std::uint32_t group = 0) {
  return {.begin_ns = begin, .end_ns = end, .lane = lane, .giver = giver, .group = group, .kind = interval_kind::waiting};
}

// Lanes that do anything, with gaps, unknown givers and circles.
inline std::vector<lane_interval> random_machine(std::uint64_t seed, lane_index lanes, std::int64_t end) {
  std::mt19937_64 random(seed);
  std::vector<lane_interval> all;
  for (lane_index lane = 0; lane < lanes; ++lane) {
    auto now = static_cast<std::int64_t>(random() % 5);
    while (now < end) {
      lane_interval interval{.begin_ns = now, .lane = lane, .group = static_cast<std::uint32_t>(random() % 4)};
      interval.end_ns = now + 1 + static_cast<std::int64_t>(random() % 20);
      interval.kind = static_cast<interval_kind>(random() % 4);
      if (random() % 2 == 0) interval.kind = interval_kind::waiting;
      if (interval.kind == interval_kind::waiting && random() % 8 != 0)
        interval.giver = static_cast<lane_index>(random() % lanes);
      now = interval.end_ns + (random() % 5 == 0 ? static_cast<std::int64_t>(random() % 10) : 0);
      all.push_back(interval);
    }
  }
  std::ranges::shuffle(all, random);
  return all;
}

}  // namespace trimtab::diagnosis::machines
