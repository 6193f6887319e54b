// What communication servers have done: whether they are worth their CPUs, and whether they are too few.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::parcels {

// The counts of one server, since it was first used.
struct server_counts {
  std::uint64_t messages = 0;  // sent by it
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;      // messages whose receiver was gone
  std::uint64_t full_queues = 0;  // messages that it had no slot for
  std::uint64_t sleeps = 0;
  std::uint64_t refusals = 0;    // messages that the transport had no room for, repetitions included
  std::uint64_t busy_ticks = 0;  // ticks of base::now() in which it has sent or tried to
  std::uint64_t life_ticks = 0;  // all ticks since it was started

  // Near 1: saturated, another server may help.
  double busy_share() const noexcept {
    return life_ticks == 0 ? 0 : static_cast<double>(busy_ticks) / static_cast<double>(life_ticks);
  }
};

// Of a locality.
struct injection_counts {
  std::uint64_t served = 0;                 // messages given to servers
  std::uint64_t sent_directly = 0;          // messages that clients have sent
  std::uint64_t held_for_order = 0;         // refused, because earlier messages were still in a server
  std::uint64_t held_for_flow = 0;          // refused, because most_under_way messages were
  std::vector<server_counts> servers = {};  // those that have been started, in use or not
};

}  // namespace trimtab::parcels
