// What communication servers are worth by message size and messages in a row, on the model of a machine with many cores: all
// messages sent directly, all through servers, and by the selection that follows from the machine's saturation curve. The
// figures are the same on every machine.
//
//   server_simulation    prints tables
#include <cstdio>

#include "simulation/injection_model.hpp"

namespace {

namespace simulation = trimtab::parcels::simulation;
using trimtab::parcels::server_settings;

struct named_machine {
  const char* name;
  simulation::injection_machine machine;
  std::uint32_t senders, free_cpus;
};

void print(const named_machine& one) {
  const auto curve = simulation::curve_of(one.machine, one.senders, one.free_cpus);
  const server_settings chosen = choose_servers(curve, one.free_cpus, one.senders);
  std::printf("%s, %u senders, %u CPUs for servers: %u servers\n", one.name, one.senders, one.free_cpus, chosen.servers);
  for (const trimtab::parcels::served_sizes& sizes : chosen.selection)
    if (chosen.servers > 0 && sizes.servers > 0)
      std::printf("  up to %zu bytes, in rows of %u and more: %u\n", sizes.largest_bytes, sizes.least_messages,
                  sizes.servers);
  std::printf("bytes in_a_row direct_M_per_s");
  for (std::uint32_t servers = 1; servers <= one.free_cpus; servers *= 2) std::printf(" all_through_%u", servers);
  std::printf(" selective\n");
  for (const std::uint64_t bytes : simulation::model_sizes)
    for (const std::uint32_t in_flight : simulation::model_rows) {
      const simulation::injection_load load{bytes, one.senders, in_flight};
      const double direct = messages_per_s(one.machine, load, {});
      std::printf("%5llu %8u %13.3f", static_cast<unsigned long long>(bytes), in_flight, direct / 1e6);
      for (std::uint32_t servers = 1; servers <= one.free_cpus; servers *= 2)
        std::printf(" %13.2f", messages_per_s(one.machine, load, simulation::all_through_servers(servers)) / direct);
      std::printf(" %9.2f\n", messages_per_s(one.machine, load, chosen) / direct);
    }
}

}  // namespace

int main() {
  const simulation::network_parameters shared_port{
      .latency_ns = 800, .overhead_ns = 200, .gap_ns = 100, .gap_per_byte_ns = 0.1, .ports = 2, .contention = 0.2};
  simulation::network_parameters own_ports = shared_port;
  own_ports.ports = 12;
  own_ports.contention = 0;
  print({"ports that threads contend for", {.network = shared_port}, 12, 4});
  print({"a port for each thread", {.network = own_ports}, 12, 4});
}
