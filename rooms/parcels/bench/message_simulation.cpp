// How much each kind of traffic costs on each network with each way to coalesce, in simulated time: the code that coalesces
// is that of real jobs. The figures are the same on every machine.
//
//   message_simulation    prints a table
#include <cstdio>
#include <vector>

#include "simulation/traffic_patterns.hpp"

namespace {

namespace simulation = trimtab::parcels::simulation;
using trimtab::parcels::coalescing;

struct named_network {
  const char* name;
  simulation::network_parameters parameters;
};
struct named_setting {
  const char* name;
  coalescing rules;
};

coalescing strict(std::uint32_t count) { return {.rules = coalescing::way::strict, .count = count, .wait_us = 100}; }

}  // namespace

int main() {
  const named_network networks[] = {
      {"shared memory", {.latency_ns = 100, .overhead_ns = 50, .gap_ns = 20, .gap_per_byte_ns = 0.05}},
      {"fast network", {.latency_ns = 800, .overhead_ns = 200, .gap_ns = 80, .gap_per_byte_ns = 0.04}},
      {"cluster", {.latency_ns = 1500, .overhead_ns = 400, .gap_ns = 300, .gap_per_byte_ns = 0.1}},
      {"TCP", {.latency_ns = 10'000, .overhead_ns = 2000, .gap_ns = 1000, .gap_per_byte_ns = 0.8}}};
  const named_setting settings[] = {
      {"adaptive", {}}, {"1", strict(1)}, {"16", strict(16)}, {"64", strict(64)}, {"1024", strict(1024)}};
  bool is_right = true;
  for (const named_network& network : networks)
    for (const simulation::traffic_pattern& pattern : simulation::traffic_patterns()) {
      std::printf("%-14s %-9s %-12s", network.name, pattern.name, pattern.unit);
      for (const named_setting& setting : settings) {
        const auto result = pattern.run({.network = network.parameters, .settings = setting.rules});
        is_right &= result.ns >= 0;
        std::printf(" | %s: %.1f (%s%llu messages)", setting.name, result.ns,
                    setting.rules.rules == coalescing::way::adaptive ? result.sent_because.c_str() : "",
                    static_cast<unsigned long long>(result.messages));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  return is_right ? 0 : 1;
}
