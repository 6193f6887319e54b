// How much went from one locality to another: counts, bytes and sizes, by action. One writer at a time; anyone may read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::parcels {

// Written by one thread at a time, under a lock or by its owner.
using flow_count = tasks::single_writer_count;

// Sizes or times by powers of two: class k holds values below 2^k that are not in an earlier class, the last one all others.
template <std::size_t classes>
struct flow_histogram {
  flow_count counts[classes];
  void add(std::uint64_t value) noexcept {
    const auto width = static_cast<std::size_t>(std::bit_width(value));
    counts[width < classes ? width : classes - 1].add();
  }
};

// Of one action to one locality.
struct parcel_flow {
  flow_count parcels, bytes;  // arguments, without headers
  flow_histogram<32> sizes;   // bytes of a parcel
};

// To one locality, all actions.
struct message_flow {
  flow_count messages, bytes;        // of messages with parcels, headers included
  flow_count bare_acknowledgements;  // messages without parcels
  flow_histogram<32> sizes;          // bytes of a message
  flow_histogram<40> ages;           // ns that the oldest parcel of a message has waited
  flow_count send_ticks;             // spent in sending
  flow_count adder_send_ticks;   // of these, by who has just added a parcel: not while it received or looked after queues
  flow_count task_send_ticks;    // of those, by tasks
  flow_count queued_wait_ticks;  // workers had nothing to do while parcels of theirs waited here
};

}  // namespace trimtab::parcels
