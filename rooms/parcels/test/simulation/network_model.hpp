// When messages arrive: the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into
// the LogP Model", SPAA 1995) for localities with several ports.
//
// A message of k bytes costs its sender o of CPU time, occupies a port for g + (k - 1) G, arrives L + (k - 1) G after it has
// begun to leave, and costs its receiver o. Messages from one locality to another arrive in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/event_queue.hpp"

namespace trimtab::parcels::simulation {

struct network_parameters {
  double latency_ns = 1000;               // L
  nanoseconds overhead_ns = 300;          // o, of sender and receiver each
  double gap_ns = 100;                    // g
  double gap_per_byte_ns = 0.1;           // G
  std::uint32_t ports = 1;                // of each locality
  nanoseconds longest_queue_ns = 20'000;  // a port refuses messages while it has work for longer than that
  double jitter_ns = 0;                   // of latency: uniform in [0, jitter_ns)
  // A message occupies a port longer by this share for each other client that has used the port within client_memory_ns.
  double contention = 0;
  nanoseconds client_memory_ns = 10'000;
};

class network_model {
 public:
  network_model(std::uint32_t localities, const network_parameters& parameters, std::uint64_t seed);

  struct message {
    std::uint32_t from = 0, to = 0;
    std::size_t bytes = 1;
    std::uint32_t client = 0;  // which thread of the sender
  };
  // When the message arrives that is handed to the network at this time (after o); nothing: all ports have too much to do.
  std::optional<nanoseconds> send(const message& sent, nanoseconds time);
  // When a port of this locality accepts a message again.
  nanoseconds time_of_room(std::uint32_t locality) const;
  // 0: none was sent.
  nanoseconds last_arrival(std::uint32_t from, std::uint32_t to) const noexcept {
    return m_last_arrival[std::size_t{from} * m_localities + to];
  }
  const network_parameters& parameters() const noexcept { return m_parameters; }

 private:
  struct port {
    double free_at = 0;
    std::vector<std::pair<std::uint32_t, nanoseconds>> clients = {};  // and when each was here last
  };
  port& first_free_port(std::uint32_t locality);
  double slow_down(port& used, std::uint32_t client, nanoseconds time);
  double random_jitter();

  network_parameters m_parameters;
  std::uint32_t m_localities;
  std::vector<port> m_ports;                // by locality
  std::vector<nanoseconds> m_last_arrival;  // by sender and receiver
  std::uint64_t m_random;
};

}  // namespace trimtab::parcels::simulation
