// How long localities take to tune the same knobs, each alone and all together, in simulated time: the code that searches is
// that of real jobs. The figures are the same on every machine.
//
//   global_tuning_simulation [SEEDS]    prints tables
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "simulation/tuned_programs.hpp"

namespace {

namespace simulation = trimtab::parcels::simulation;
using simulation::tuning_comparison;

std::vector<double> of_each(const std::vector<tuning_comparison>& all, double (*figure)(const tuning_comparison&)) {
  std::vector<double> figures;
  figures.reserve(all.size());
  for (const tuning_comparison& each : all) figures.push_back(figure(each));
  return figures;
}

std::vector<tuning_comparison> compare_all(const std::vector<simulation::named_program>& programs,
                                           const simulation::tuning_parameters& parameters, std::uint64_t seeds) {
  std::vector<tuning_comparison> all;
  for (const simulation::named_program& each : programs) all.push_back(simulation::compare_tuning(each, parameters, seeds));
  return all;
}

// Geometric means over the programs.
void print_row(const simulation::tuning_parameters& parameters, const std::vector<tuning_comparison>& all) {
  const std::vector<double> times = of_each(all, [](const tuning_comparison& each) { return each.time(); });
  const auto mean = [&all](double (*figure)(const tuning_comparison&)) {
    return simulation::geometric_mean(of_each(all, figure));
  };
  std::printf("| %u | %.0f %% | %.2f | %.2f to %.2f | %.2f | %.2f | %.3f | %.3f |\n", parameters.localities,
              100 * parameters.noise, simulation::geometric_mean(times), *std::min_element(times.begin(), times.end()),
              *std::max_element(times.begin(), times.end()),
              mean([](const tuning_comparison& each) { return each.together.epochs / each.alone.epochs; }),
              mean([](const tuning_comparison& each) { return each.together.candidates / each.alone.candidates; }),
              mean([](const tuning_comparison& each) { return each.alone.ended_at; }),
              mean([](const tuning_comparison& each) { return each.together.ended_at; }));
  std::fflush(stdout);
}

void print_programs(const std::vector<simulation::named_program>& programs, const std::vector<tuning_comparison>& all) {
  std::printf("\n| program | points | alone, s | together, s | ratio | ended: alone | together |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::size_t points = 1;
    for (const trimtab::steer::knob& each : programs[i].program.knobs) points *= each.values.size();
    std::printf("| %s | %zu | %.3f | %.3f | %.2f | %.2f | %.2f |\n", programs[i].name.c_str(), points,
                all[i].alone.settled_s, all[i].together.settled_s, all[i].time(), all[i].alone.ended_at,
                all[i].together.ended_at);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 21;
  std::vector<simulation::named_program> programs = simulation::programs_on_surfaces();
  programs.push_back(simulation::coalescing_program("coalescing, burst", simulation::run_burst));
  programs.push_back(simulation::coalescing_program("coalescing, stream", simulation::run_stream));
  std::printf(
      "| localities | noise | time, together / alone | of single programs | epochs | candidates | ended: alone | "
      "together |\n|---|---|---|---|---|---|---|---|\n");
  std::vector<tuning_comparison> four;
  for (const double noise : {0.0, 0.05, 0.2})
    for (const std::uint32_t localities : {1u, 2u, 4u, 8u, 16u, 64u}) {
      const simulation::tuning_parameters parameters{.localities = localities, .noise = noise};
      const std::vector<tuning_comparison> all = compare_all(programs, parameters, seeds);
      print_row(parameters, all);
      if (localities == 4 && noise == 0.05) four = all;
    }
  std::printf("\nThe last of four localities takes four times as long as the first, noise of 5 %%:\n");
  const simulation::tuning_parameters uneven{.localities = 4, .noise = 0.05, .slowest = 4};
  print_row(uneven, compare_all(programs, uneven, seeds));
  std::printf("\n4 localities, noise of 5 %%:\n");
  print_programs(programs, four);
  return 0;
}
