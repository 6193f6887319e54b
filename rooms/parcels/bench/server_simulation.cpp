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
};

void print(const named_machine& one) {
  const auto curve = simulation::curve_of(one.machine, simulation::model_senders, simulation::model_servers);
  const server_settings chosen = choose_servers(curve, simulation::model_servers, simulation::model_senders);
  std::printf("%s, %u senders, %u CPUs for servers: %u servers\n", one.name, simulation::model_senders,
              simulation::model_servers, chosen.servers);
  for (const trimtab::parcels::served_sizes& sizes : chosen.selection)
    if (chosen.servers > 0 && sizes.servers > 0)
      std::printf("  up to %zu bytes, in rows of %u and more: %u\n", sizes.largest_bytes, sizes.least_messages,
                  sizes.servers);
  std::printf("bytes in_a_row direct_M_per_s");
  for (std::uint32_t servers = 1; servers <= simulation::model_servers; servers *= 2)
    std::printf(" all_through_%u", servers);
  std::printf(" selective\n");
  for (const std::uint64_t bytes : simulation::model_sizes)
    for (const std::uint32_t in_flight : simulation::model_rows) {
      const simulation::injection_load load{bytes, simulation::model_senders, in_flight};
      const double direct = messages_per_s(one.machine, load, {});
      std::printf("%5llu %8u %13.3f", static_cast<unsigned long long>(bytes), in_flight, direct / 1e6);
      for (std::uint32_t servers = 1; servers <= simulation::model_servers; servers *= 2)
        std::printf(" %13.2f", messages_per_s(one.machine, load, trimtab::parcels::all_served(servers)) / direct);
      std::printf(" %9.2f\n", messages_per_s(one.machine, load, chosen) / direct);
    }
}

}  // namespace

int main() {
  print({"ports that threads contend for", simulation::contended_machine()});
  print({"a port for each thread", simulation::machine_with_own_ports()});
}
