// The table of docs/steering.md: how many evaluations each search needs to come to within 5 % of the best of each surface,
// and how far from the best it ends. Medians of 51 seeds. Deterministic.  search_table [noise, a share; 0.03]
#include <cstdio>
#include <cstdlib>

#include "surfaces.hpp"
#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/search.hpp"

namespace {

using namespace trimtab::steer;

constexpr std::uint64_t seeds = 51;
constexpr double never = 1e9;

struct result {
  double until_good = never;  // evaluations
  double ended_at = 0;        // true value of what it found, over the best
  double evaluations = 0;
};

result once(search_kind kind, const surfaces::surface& of, double best, double noise, std::uint64_t seed) {
  search_limits within{seed, kind == search_kind::exhaustive ? 0u : kind == search_kind::diagnosed ? 16u : 100u, {}};
  for (const auto& hint : of.hints)
    if (kind == search_kind::diagnosed) within.hints.push_back(space_of(of.knobs, hint).start);
  const auto asked = make_search(kind, space_of(of.knobs, of.start), within);
  random_source source(seed);
  result found;
  while (const auto at = asked->ask()) {
    const double seconds = of.seconds(values_at(of.knobs, *at));
    // As the tuner does: the median of three.
    std::vector<double> told;
    for (int i = 0; i < 3; ++i) told.push_back(surfaces::noisy(seconds, noise, source));
    asked->tell(*at, median_of(told));
    found.evaluations += 1;
    if (seconds <= 1.05 * best && found.until_good == never) found.until_good = found.evaluations;
  }
  const std::vector<knob_value> end = asked->best() ? values_at(of.knobs, asked->best()->at) : of.start;
  found.ended_at = of.seconds(end) / best;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const double noise = argc > 1 ? std::strtod(argv[1], nullptr) : 0.03;
  std::printf(
      "| surface | points | start | search | evaluations to within 5 %% | came there | evaluations in all | ends at |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (const surfaces::surface& of : surfaces::all_surfaces()) {
    const double best = surfaces::best_of(of);
    for (const search_kind kind : all_searches) {
      std::vector<double> until, ended, evaluations;
      int came = 0;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const result found = once(kind, of, best, noise, seed);
        came += found.until_good < never;
        until.push_back(found.until_good);
        ended.push_back(found.ended_at);
        evaluations.push_back(found.evaluations);
      }
      char good[32] = "-";
      if (median_of(until) < never) std::snprintf(good, sizeof good, "%.0f", median_of(until));
      std::printf("| %s | %llu | %.2f | %s | %s | %.0f %% | %.0f | %.2f |\n", of.name.c_str(),
                  static_cast<unsigned long long>(space_of(of.knobs, of.start).points()), of.seconds(of.start) / best,
                  std::string(name_of(kind)).c_str(), good, 100.0 * came / static_cast<double>(seeds),
                  median_of(evaluations), median_of(ended));
    }
  }
  return 0;
}
