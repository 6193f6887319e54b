// How long localities take to tune the same knobs, each alone and all together, in simulated time: the code that searches is
// that of real jobs. The figures are the same on every machine.
//
//   global_tuning_simulation [SEEDS]    prints tables
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "recorded_surfaces.hpp"
#include "simulation/traffic_patterns.hpp"
#include "simulation/tuning_model.hpp"

namespace {

namespace simulation = trimtab::parcels::simulation;
namespace surfaces = trimtab::steer::surfaces;
namespace steer = trimtab::steer;
using trimtab::parcels::coalescing;

// An epoch has so many steps that it takes this long with the best values.
constexpr double best_epoch_s = 1e-3;

struct named_program {
  std::string name;
  simulation::tuned_program program;
  double best_s = 0;
};

named_program program_of(const surfaces::surface& surface) {
  named_program named{surface.name, {surface.knobs, {}}, best_epoch_s};
  for (std::size_t i = 0; i < surface.knobs.size(); ++i) named.program.knobs[i].initial = surface.start[i];
  const double scale = best_epoch_s / surfaces::best_of(surface);
  named.program.epoch_s = [surface, scale](const steer::knob_values& values) { return scale * surface.seconds(values); };
  return named;
}

// What the code that coalesces costs with strict settings, in simulated time: a table, made once.
named_program coalescing_program(const char* name,
                                 simulation::traffic_result (*pattern)(const simulation::job_parameters&)) {
  const steer::domain counts = steer::certain(steer::domain::powers_of_two(1, 1024));
  const steer::domain waits = steer::certain(steer::domain::set({20, 100, 500, 2000}));
  auto table = std::make_shared<std::map<steer::knob_values, double>>();
  double best = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::size_t k = 0; k < waits.size(); ++k) {
      const coalescing settings{.rules = coalescing::way::strict,
                                .count = static_cast<std::uint32_t>(counts.at(i)),
                                .wait_us = static_cast<std::uint32_t>(waits.at(k))};
      const double ns = pattern({.settings = settings}).ns;
      (*table)[{counts.at(i), waits.at(k)}] = ns;
      best = best == 0 ? ns : std::min(best, ns);
    }
  named_program named{
      name,
      {{{"count", counts, 1, 0, steer::consent::safe, 0, {}}, {"wait", waits, 100, 0, steer::consent::safe, 0, {}}}, {}},
      best_epoch_s};
  const double scale = best_epoch_s / best;
  named.program.epoch_s = [table, scale](const steer::knob_values& values) { return scale * table->at(values); };
  return named;
}

struct summary {
  double settled_s = 0, epochs = 0, ended_at = 0, candidates = 0, worst_end = 0;
};

summary over_seeds(const named_program& which, simulation::tuning_parameters parameters, std::uint64_t seeds) {
  std::vector<double> settled, epochs, ended, candidates;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    parameters.seed = seed;
    const simulation::tuning_outcome outcome = simulation::simulate_tuning(which.program, parameters);
    settled.push_back(outcome.is_settled ? outcome.settled_s : parameters.most_s);
    epochs.push_back(outcome.epochs);
    ended.push_back(outcome.slowest_final / which.best_s);
    candidates.push_back(outcome.candidates);
  }
  return {steer::median_of(settled), steer::median_of(epochs), steer::median_of(ended), steer::median_of(candidates),
          *std::max_element(ended.begin(), ended.end())};
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 21;
  std::vector<named_program> programs;
  for (const surfaces::surface& each : surfaces::recording_reader::read(TRIMTAB_RECORDED_SURFACES).all)
    programs.push_back(program_of(each));
  for (const surfaces::surface& each : surfaces::all_surfaces()) programs.push_back(program_of(each));
  programs.push_back(coalescing_program("coalescing, burst", simulation::run_burst));
  programs.push_back(coalescing_program("coalescing, stream", simulation::run_stream));
  std::printf("| localities | noise | time, together / alone | worst | epochs | candidates | ended: alone | together |\n");
  std::map<std::pair<std::uint32_t, double>, std::vector<std::pair<summary, summary>>> all;
  for (const double noise : {0.0, 0.05, 0.2})
    for (const std::uint32_t localities : {1u, 2u, 4u, 8u, 16u, 64u}) {
      std::vector<double> time, epochs, candidates, alone_ended, together_ended;
      auto& results = all[{localities, noise}];
      for (const named_program& which : programs) {
        simulation::tuning_parameters parameters{.localities = localities, .noise = noise};
        parameters.is_together = false;
        const summary alone = over_seeds(which, parameters, seeds);
        parameters.is_together = true;
        const summary together = over_seeds(which, parameters, seeds);
        results.emplace_back(alone, together);
        time.push_back(together.settled_s / alone.settled_s);
        epochs.push_back(together.epochs / alone.epochs);
        candidates.push_back(together.candidates / alone.candidates);
        alone_ended.push_back(alone.ended_at);
        together_ended.push_back(together.ended_at);
      }
      std::printf("| %u | %.0f %% | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f |\n", localities, 100 * noise,
                  geometric_mean(time), *std::max_element(time.begin(), time.end()), geometric_mean(epochs),
                  geometric_mean(candidates), geometric_mean(alone_ended), geometric_mean(together_ended));
      std::fflush(stdout);
    }
  std::printf("\n4 localities, noise of 5 %%\n\n| program | alone, s | together, s | ratio | ended: alone | together |\n");
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto& [alone, together] = all[{4, 0.05}][i];
    std::printf("| %s | %.3f | %.3f | %.2f | %.2f | %.2f |\n", programs[i].name.c_str(), alone.settled_s, together.settled_s,
                together.settled_s / alone.settled_s, alone.ended_at, together.ended_at);
  }
  return 0;
}
