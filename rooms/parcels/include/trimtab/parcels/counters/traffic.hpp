// What one locality has counted of its messages, at one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/coalescing/flow.hpp"
#include "trimtab/parcels/coalescing/flush_rules.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

class job;
struct injection_counts;

// Nothing but numbers of 64 bits: sums and differences go through all of them.
struct traffic_counts {
  static constexpr std::size_t size_classes = 32, time_classes = 40;
  // By action and other locality.
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  std::uint64_t sizes[size_classes] = {};      // bytes of a parcel, by powers of two
  std::uint64_t intervals[time_classes] = {};  // ticks between parcels that came
  // By other locality.
  std::uint64_t messages = 0, message_bytes = 0, acknowledgements = 0;
  std::uint64_t flushes[flush_reasons] = {};
  std::uint64_t ages[time_classes] = {};                                   // ns
  std::uint64_t send = 0, adder_send = 0, task_send = 0, queued_wait = 0;  // ticks
  // Of the locality.
  std::uint64_t messages_received = 0, message_bytes_received = 0, handled = 0, refused = 0;
  std::uint64_t receive = 0, look_after = 0, busy = 0;                  // ticks; busy: workers ran tasks
  std::uint64_t packed = 0, packed_timed = 0;                           // ticks, and parcels that they are of
  std::uint64_t barrier_wait = 0, broadcast_wait = 0, reduce_wait = 0;  // ticks
  std::uint64_t within_send = 0;  // ticks; of receive and look_after: by tasks that were sending
  // Of the locality, with communication servers.
  std::uint64_t handed_over = 0, sent_directly = 0, held_for_order = 0, held_for_flow = 0;
  // By communication server.
  std::uint64_t server_messages = 0, server_bytes = 0, server_dropped = 0, server_full_queues = 0, server_refusals = 0;
  std::uint64_t server_sleeps = 0, server_busy = 0, server_life = 0;  // the last two in ticks

  void add(const traffic_counts& other) noexcept;
  // Never below 0: a figure may be read while another one of the same event is written.
  void subtract(const traffic_counts& other) noexcept;
};

// The traffic of one action with one other locality.
struct action_traffic {
  locality_number other = 0;
  std::string action;              // its name
  const void* function = nullptr;  // nullptr: the job's own, such as results
  traffic_counts counts;
};

// Everything, read within some microseconds. From any thread.
class traffic_snapshot {
 public:
  traffic_snapshot() = default;
  explicit traffic_snapshot(job& owner);

  base::ticks at = 0;
  double ns_per_tick = 1;
  locality_number number = 0;
  std::uint32_t size = 1;
  std::vector<action_traffic> actions;       // of actions with traffic, by locality
  std::vector<traffic_counts> destinations;  // by number, without what is by action
  std::vector<traffic_counts> servers;       // communication servers that have been started, by number
  traffic_counts own;                        // of the locality as a whole, without what is by action, destination or server

  static constexpr std::int64_t all = -1;
  // Sums. to: a locality, or all; action: a name, or empty: all.
  traffic_counts sum(std::int64_t to, const std::string& action) const noexcept;
  traffic_counts of_server(std::int64_t server) const noexcept;  // that has not been started: nothing

 private:
  void add_servers(const injection_counts& counts);
};

}  // namespace trimtab::parcels
