// How fast messages leave a locality whose threads send for themselves, through communication servers, or by a selection of
// both, on a LogGP network with ports (network_model.hpp).
#pragma once

#include <cstdint>

#include "simulation/network_model.hpp"
#include "trimtab/parcels/servers/saturation_curve.hpp"
#include "trimtab/parcels/servers/server_settings.hpp"

namespace trimtab::parcels::simulation {

struct injection_machine {
  network_parameters network = {};
  nanoseconds handover_ns = 60;       // for a client to give a message to a server
  double copy_ns_per_byte = 0.1;      // of a message that is handed over
  nanoseconds server_delay_ns = 200;  // until a server that had nothing to do sees it
};

// Rows of messages, each sender to a locality of its own; a row begins when the answer to the one before has come.
struct injection_load {
  std::uint64_t bytes = 8;
  std::uint32_t senders = 1, in_flight = 1;
  std::uint32_t rows = 40;
};

// Messages a second, of all senders together. Servers send what `settings` selects, in the order of each sender.
double messages_per_s(const injection_machine& machine, const injection_load& load, const server_settings& settings);

inline constexpr std::uint32_t model_senders = 12, model_servers = 4;  // model_servers: CPUs for them
// Two ports, which are slower the more threads use them; and a port for each sender.
injection_machine contended_machine();
injection_machine machine_with_own_ports();

// What `trimtab doctor --network` would measure on that machine.
saturation_curve curve_of(const injection_machine& machine, std::uint32_t senders, std::uint32_t most_servers);

inline constexpr std::uint64_t model_sizes[] = {8, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
inline constexpr std::uint32_t model_rows[] = {1, 2, 4, 8, 16, 64, 128};

}  // namespace trimtab::parcels::simulation
