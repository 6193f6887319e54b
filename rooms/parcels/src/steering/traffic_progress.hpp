// What a locality has done for messages so far: the measure of all knobs that change how messages travel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trimtab/parcels/coalescing/exchange.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::parcels {

// All subjects about messages are in one group: the knobs of one change what is measured of the others.
inline constexpr std::uint64_t traffic_group = 1;

// Of looks at it: while messages travel, and while there are none or they cost next to nothing.
inline constexpr double busy_look_s = 0.002, quiet_look_s = 0.05;

struct traffic_progress {
  std::uint64_t parcels = 0;  // of the program, sent or handled
  std::uint64_t sent = 0;     // of these
  std::array<std::uint64_t, traffic_kinds> sent_of_kind{};
  std::uint64_t messages = 0;  // sent
  double overhead_s = 0;       // threads spent on messages
  double queued_wait_s = 0;    // workers waited while parcels of theirs were queued
};

traffic_progress progress_of(const exchange& traffic, double ns_per_tick);
// Of what was done in `seconds`.
std::vector<steer::figure> figures_between(const traffic_progress& before, const traffic_progress& after, double seconds);
// Whether so many parcels in so many seconds say anything.
bool is_measurement(std::uint64_t parcels, double seconds) noexcept;
// Whether messages take so much of the time that it could be worth it to change something.
bool has_something_to_gain(const std::vector<steer::figure>& figures) noexcept;

}  // namespace trimtab::parcels
