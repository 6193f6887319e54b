// Programs whose knobs simulated localities tune: on the response surfaces of steer's searches (recorded and modelled), and
// by what the code that coalesces parcels costs in simulated time.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recorded_surfaces.hpp"
#include "simulation/traffic_patterns.hpp"
#include "simulation/tuning_model.hpp"

namespace trimtab::parcels::simulation {

// An epoch has so many steps that it takes this long with the best values.
inline constexpr double best_epoch_s = 1e-3;

struct named_program {
  std::string name;
  tuned_program program;
};

inline named_program program_of(const steer::surfaces::surface& surface) {
  named_program named{surface.name, {surface.knobs, {}}};
  for (std::size_t i = 0; i < surface.knobs.size(); ++i) named.program.knobs[i].initial = surface.start[i];
  const double scale = best_epoch_s / steer::surfaces::best_of(surface);
  named.program.epoch_s = [surface, scale](const steer::knob_values& values) { return scale * surface.seconds(values); };
  return named;
}

// Strict settings for one kind of traffic: a table, made once.
inline named_program coalescing_program(const std::string& name, traffic_result (*pattern)(const job_parameters&)) {
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
  const double scale = best_epoch_s / best;
  const auto knob_of = [](const char* knob, const steer::domain& values, steer::knob_value initial) {
    return steer::knob{knob, values, initial, 0, steer::consent::safe, 0, {}};
  };
  return {name,
          {{knob_of("count", counts, 1), knob_of("wait", waits, 100)},
           [table, scale](const steer::knob_values& values) { return scale * table->at(values); }}};
}

inline std::vector<named_program> programs_on_surfaces() {
  std::vector<named_program> programs;
  for (const auto& each : steer::surfaces::recording_reader::read(TRIMTAB_RECORDED_SURFACES).all)
    programs.push_back(program_of(each));
  for (const auto& each : steer::surfaces::all_surfaces()) programs.push_back(program_of(each));
  return programs;
}

// Medians over seeds.
struct tuning_summary {
  double settled_s = 0, epochs = 0, ended_at = 0, candidates = 0;  // ended_at: over the best
  bool is_always_settled = true, is_always_same = true;
};

inline tuning_summary tune_over_seeds(const named_program& which, tuning_parameters parameters, std::uint64_t seeds) {
  std::vector<double> settled, epochs, ended, candidates;
  tuning_summary all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    parameters.seed = seed;
    const tuning_outcome outcome = simulate_tuning(which.program, parameters);
    settled.push_back(outcome.settled_s);
    epochs.push_back(outcome.epochs);
    ended.push_back(outcome.slowest_final / best_epoch_s);
    candidates.push_back(outcome.candidates);
    all.is_always_settled &= outcome.is_settled;
    all.is_always_same &= outcome.is_same_everywhere;
  }
  all.settled_s = steer::median_of(settled);
  all.epochs = steer::median_of(epochs);
  all.ended_at = steer::median_of(ended);
  all.candidates = steer::median_of(candidates);
  return all;
}

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

// All localities together, as a share of each alone; of one program.
struct tuning_comparison {
  tuning_summary alone, together;
  double time() const { return together.settled_s / alone.settled_s; }
};
inline tuning_comparison compare_tuning(const named_program& which, tuning_parameters parameters, std::uint64_t seeds) {
  tuning_comparison result;
  parameters.is_together = false;
  result.alone = tune_over_seeds(which, parameters, seeds);
  parameters.is_together = true;
  result.together = tune_over_seeds(which, parameters, seeds);
  return result;
}

}  // namespace trimtab::parcels::simulation
