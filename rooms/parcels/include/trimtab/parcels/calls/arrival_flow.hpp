// How much of one action has come from one other locality. Written by who receives, one thread at a time; anyone may read.
#pragma once

#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/calls/action.hpp"
#include "trimtab/parcels/coalescing/flow.hpp"

namespace trimtab::parcels {

struct arrival_flow {
  locality_number from = 0;
  const parcel_kind* kind = nullptr;
  const void* function = nullptr;
  flow_count parcels, bytes;     // arguments, without headers
  flow_histogram<40> intervals;  // ticks from parcel to parcel: means of sample_parcels in a row

  // The clock is read once in so many parcels.
  static constexpr std::uint64_t sample_parcels = 16;

  void note(std::size_t parcel_bytes) noexcept {
    parcels.add();
    bytes.add(parcel_bytes);
    if (parcels.get() % sample_parcels == 0) sample();
  }

 private:
  void sample() noexcept {
    const base::ticks current_time = base::now();
    if (m_last_sample != 0) intervals.add((current_time - m_last_sample) / sample_parcels);
    m_last_sample = current_time;
  }
  base::ticks m_last_sample = 0;
};

}  // namespace trimtab::parcels
