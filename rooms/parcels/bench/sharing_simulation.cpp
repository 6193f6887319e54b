// How old what localities know of each other's load is, and what it is worth to place tasks by it, in simulated time: the
// rules and the code that coalesces are those of real jobs. The figures are the same on every machine.
//
//   sharing_simulation [staleness | placing]    prints tables, or one of them
#include <cstdio>
#include <string_view>

#include "simulation/sharing_model.hpp"

namespace {

namespace simulation = trimtab::parcels::simulation;
using trimtab::parcels::load_sharing_options;

simulation::job_parameters cluster_of(std::uint32_t localities, std::uint64_t seed = 1) {
  return {.localities = localities,
          .workers = 1,
          .network = {.latency_ns = 1500, .overhead_ns = 400, .gap_ns = 300, .gap_per_byte_ns = 0.1},
          .costs = {.looks = 100},
          .seed = seed};
}

void print_staleness(const char* name, std::uint32_t localities, const load_sharing_options& settings,
                     std::uint32_t program_messages) {
  const auto age = simulation::staleness_of(cluster_of(localities), settings, localities > 16 ? 120 : 400, program_messages);
  std::printf("%-34s %10u %6.2f %6.2f %6.2f %6.2f %8.1f\n", name, localities, age.half, age.p90, age.p99, age.most,
              age.views_a_period);
  std::fflush(stdout);
}

void print_staleness() {
  std::printf("age of what is known, in periods:  localities   half    90%%    99%%   most views_a_period\n");
  for (const std::uint32_t localities : {2u, 4u, 8u, 16u, 32u, 64u}) {
    print_staleness("one round", localities, {.rounds = 1}, 0);
    print_staleness("two rounds", localities, {.rounds = 2}, 0);
    print_staleness("three rounds, as jobs do", localities, {}, 0);
    print_staleness("and 100 parcels a period", localities, {}, 100);
    print_staleness("two rounds to two localities each", localities, {.rounds = 2, .fan_out = 2}, 0);
  }
}

void print_placing(simulation::imbalance pattern, std::uint32_t localities) {
  constexpr std::uint64_t seeds = 2;
  double fixed = 0, balanced = 0, ideal = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const simulation::sharing_program program{.pattern = pattern};
    const simulation::job_parameters cluster = cluster_of(localities, seed);
    const load_sharing_options settings{.seed = seed};
    fixed += simulation::run_placed(program, simulation::placing::fixed, cluster, settings);
    balanced += simulation::run_placed(program, simulation::placing::balanced, cluster, settings);
    ideal += simulation::run_placed(program, simulation::placing::ideal, cluster, settings);
  }
  std::printf("%-10s %10u %10.2f %8.2f %8.2f\n", simulation::name_of(pattern), localities, fixed / seeds / 1e6,
              balanced / fixed, ideal / fixed);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view asked = count > 1 ? words[1] : "";
  if (asked != "placing") print_staleness();
  if (asked == "staleness") return 0;
  std::printf("\nimbalance  localities   fixed_ms balanced    ideal\n");
  using simulation::imbalance;
  for (const imbalance pattern : {imbalance::front, imbalance::one_heavy, imbalance::drawn, imbalance::none})
    for (const std::uint32_t localities : {2u, 8u, 32u, 64u}) print_placing(pattern, localities);
}
