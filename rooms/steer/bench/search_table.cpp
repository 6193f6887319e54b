// The tables of docs/steering.md: searches by themselves on each surface, the tuner with each of them within a run, and ARCS
// as published.
// Deterministic.  search_table [noise, a share; 0.03]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "surfaces.hpp"
#include "trimtab/steer/arcs.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/tuner.hpp"

namespace {

using namespace trimtab::steer;

constexpr std::uint64_t seeds = 21;
constexpr double never = 1e9;
constexpr double most_instances = 4000;

struct result {
  double until_good = never;  // evaluations, or instances of the region
  double ended_at = 0;        // true value of what it found, over the best
  double lost = 0;            // to trials above the incumbent, of the run's time
};

result alone(search_kind kind, const surfaces::surface& of, double best, double noise, std::uint64_t seed) {
  search_limits within{seed, kind == search_kind::exhaustive || kind == search_kind::diagnosed ? 0u : 100u, {}};
  for (const auto& hint : of.hints)
    if (kind == search_kind::diagnosed) within.hints.push_back(space_of(of.knobs, hint).start);
  const auto asked = make_search(kind, space_of(of.knobs, of.start), within);
  random_source source(seed);
  result found;
  double evaluations = 0;
  while (const auto at = asked->ask()) {
    const double seconds = of.seconds(values_at(of.knobs, *at));
    // As the tuner does: the median of three.
    std::vector<double> told;
    for (int i = 0; i < 3; ++i) told.push_back(surfaces::noisy(seconds, noise, source));
    asked->tell(*at, median_of(told));
    evaluations += 1;
    if (seconds <= 1.05 * best && found.until_good == never) found.until_good = evaluations;
  }
  found.ended_at = of.seconds(asked->best() ? values_at(of.knobs, asked->best()->at) : of.start) / best;
  return found;
}

// A program that does nothing but run the region for as long as 2000 instances take at its start, or 4000 in all.
result within_a_run(std::unique_ptr<policy> rule, const surfaces::surface& of, double best, double noise,
                    std::uint64_t seed) {
  engine steering;
  steering.add(std::move(rule));
  subject_info region{1, of.name, of.knobs};
  for (std::size_t i = 0; i < region.knobs.size(); ++i) {
    region.knobs[i].initial = of.start[i];
    remedy known{std::string(causes::imbalance), {}};
    for (const auto& hint : of.hints) known.values.push_back(hint[i]);
    region.knobs[i].remedies.push_back(known);
  }
  random_source source(seed);
  std::vector<knob_value> values = of.start, accepted = of.start;
  result found;
  snapshot now;
  now.appeared = {region};
  decision_number under = 0;
  const double end_s = 2000 * of.seconds(of.start);
  for (double instances = 0; now.time_s < end_s && instances < most_instances; ++instances) {
    const double seconds = surfaces::noisy(of.seconds(values), noise, source);
    now.time_s += seconds;
    now.subjects = {{1, {{under, seconds, seconds}}, {{std::string(figures::imbalance), 1.9}}}};
    for (const decision& made : steering.step(now)) {
      under = made.number;
      for (const change& each : made.changes) values[each.knob] = each.to;
      if (made.what == outcome::kept) accepted = values;
    }
    now.appeared.clear();
    if (found.until_good == never && of.seconds(accepted) <= 1.05 * best) found.until_good = instances;
  }
  found.ended_at = of.seconds(accepted) / best;
  found.lost = steering.spent().spent_s() / now.time_s;
  return found;
}

result tuned(search_kind kind, const surfaces::surface& of, double best, double noise, std::uint64_t seed) {
  tuner_options options;
  options.kind = kind;
  options.seed = seed;
  return within_a_run(std::make_unique<tuner>(options), of, best, noise, seed);
}

using experiment = result (*)(search_kind, const surfaces::surface&, double best, double noise, std::uint64_t seed);

void table(experiment what, double noise) {
  std::printf("| surface | points | start |");
  for (const search_kind kind : all_searches) std::printf(" %s |", std::string(name_of(kind)).c_str());
  std::printf("\n|---|---|---|");
  for ([[maybe_unused]] const search_kind kind : all_searches) std::printf("---|");
  std::printf("\n");
  for (const surfaces::surface& of : surfaces::all_surfaces()) {
    const double best = surfaces::best_of(of);
    std::printf("| %s | %llu | %.2f |", of.name.c_str(),
                static_cast<unsigned long long>(space_of(of.knobs, of.start).points()), of.seconds(of.start) / best);
    for (const search_kind kind : all_searches) {
      std::vector<double> until, ended;
      int came = 0;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const result found = what(kind, of, best, noise, seed);
        came += found.until_good < never;
        until.push_back(found.until_good);
        ended.push_back(found.ended_at);
      }
      char good[32] = "-";
      if (median_of(until) < never) std::snprintf(good, sizeof good, "%.0f", median_of(until));
      std::printf(" %s, %d %%, %.2f |", good, static_cast<int>(100 * came / static_cast<int>(seeds)), median_of(ended));
    }
    std::printf("\n");
  }
}

void table_of_arcs(double noise) {
  std::printf("| surface | start | arcs-online | arcs-offline |\n|---|---|---|---|\n");
  for (const surfaces::surface& of : surfaces::all_surfaces()) {
    if (of.knobs != surfaces::arcs_knobs()) continue;
    const double best = surfaces::best_of(of);
    std::printf("| %s | %.2f |", of.name.c_str(), of.seconds(of.start) / best);
    for (const arcs_kind kind : {arcs_kind::online, arcs_kind::offline}) {
      std::vector<double> until, ended, lost;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const result found = within_a_run(std::make_unique<arcs>(kind, seed), of, best, noise, seed);
        until.push_back(found.until_good);
        ended.push_back(found.ended_at);
        lost.push_back(found.lost);
      }
      char good[32] = "-";
      if (median_of(until) < never) std::snprintf(good, sizeof good, "%.0f", median_of(until));
      std::printf(" %s, %.2f, %.1f %% |", good, median_of(ended), 100 * median_of(lost));
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double noise = argc > 1 ? std::strtod(argv[1], nullptr) : 0.03;
  table(alone, noise);
  std::printf("\n");
  table(tuned, noise);
  std::printf("\n");
  table_of_arcs(noise);
  return 0;
}
