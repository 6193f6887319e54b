// What the tables of docs/performance/searches.md are made of: searches by themselves on each surface, recorded and modelled
// ones, the tuner with each of them within a run, and ARCS as published. Deterministic; JSON.
//   search_table [FILE of recorded surfaces]
#include <algorithm>
#include <cstdio>
#include <string>

#include "recorded_surfaces.hpp"
#include "surfaces.hpp"
#include "trimtab/steer/arcs.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/tuner.hpp"

namespace {

using namespace trimtab::steer;

constexpr std::uint64_t seeds = 21;
constexpr double never = 1e9;
constexpr double modelled_noise = 0.03;
constexpr double most_instances = 4000;

struct result {
  double until_good = never;  // evaluations, or instances of the region
  double ended_at = 0;        // true value of what it found, over the best
  double lost = 0;            // to trials above the incumbent, of the run's time
};

result alone(search_kind kind, const surfaces::surface& surface, double best, double noise, std::uint64_t seed) {
  search_limits limits{seed, kind == search_kind::exhaustive || kind == search_kind::diagnosed ? 0u : 100u, {}};
  for (const auto& hint : surface.hints)
    if (kind == search_kind::diagnosed) limits.hints.push_back(space_of(surface.knobs, hint).start);
  const auto searching = make_search(kind, space_of(surface.knobs, surface.start), limits);
  random_source source(seed);
  result outcome_found;
  double evaluations = 0;
  while (const auto at = searching->ask()) {
    const double seconds = surface.seconds(values_at(surface.knobs, *at));
    // As the tuner does: the median of three.
    std::vector<double> values_measured;
    for (int i = 0; i < 3; ++i)
      values_measured.push_back(surfaces::measured(surface, values_at(surface.knobs, *at), noise, source));
    searching->tell(*at, median_of(values_measured));
    evaluations += 1;
    if (seconds <= 1.05 * best && outcome_found.until_good == never) outcome_found.until_good = evaluations;
  }
  outcome_found.ended_at =
      surface.seconds(searching->best() ? values_at(surface.knobs, searching->best()->at) : surface.start) / best;
  return outcome_found;
}

// A program that does nothing but run the region for as long as 2000 instances take at its start, or 4000 in all.
result within_a_run(std::unique_ptr<policy> rule, const surfaces::surface& surface, double best, double noise,
                    std::uint64_t seed) {
  engine steering;
  steering.add(std::move(rule));
  subject_info region{1, surface.name, surface.knobs};
  for (std::size_t i = 0; i < region.knobs.size(); ++i) {
    region.knobs[i].initial = surface.start[i];
    remedy offered_remedy{std::string(causes::imbalance), {}};
    for (const auto& hint : surface.hints) offered_remedy.values.push_back(hint[i]);
    region.knobs[i].remedies.push_back(offered_remedy);
  }
  random_source source(seed);
  std::vector<knob_value> values = surface.start, accepted = surface.start;
  result outcome_found;
  snapshot now;
  now.appeared = {region};
  decision_number active_decision = 0;
  const double end_s = 2000 * surface.seconds(surface.start);
  for (double instances = 0; now.time_s < end_s && instances < most_instances; ++instances) {
    const double seconds = surfaces::measured(surface, values, noise, source);
    now.time_s += seconds;
    now.subjects = {{1, {{active_decision, seconds, seconds}}, {{std::string(figures::imbalance), 1.9}}}};
    for (const decision& made_decision : steering.step(now)) {
      active_decision = made_decision.number;
      for (const change& change : made_decision.changes) values[change.knob] = change.to;
      if (made_decision.what == outcome::kept) accepted = values;
    }
    now.appeared.clear();
    if (outcome_found.until_good == never && surface.seconds(accepted) <= 1.05 * best) outcome_found.until_good = instances;
  }
  outcome_found.ended_at = surface.seconds(accepted) / best;
  outcome_found.lost = steering.spent().spent_s() / now.time_s;
  return outcome_found;
}

result tuned(search_kind kind, const surfaces::surface& surface, double best, double noise, std::uint64_t seed) {
  tuner_options options;
  options.kind = kind;
  options.seed = seed;
  return within_a_run(std::make_unique<tuner>(options), surface, best, noise, seed);
}

using experiment = result (*)(search_kind, const surfaces::surface&, double best, double noise, std::uint64_t seed);

// Medians of all seeds: evaluations or instances until it was good (null: mostly never), share of the seeds where it came to
// that, where it ended, what it lost.
template <class once>
void print_over_seeds(std::string_view name, const char* before, once&& run) {
  std::vector<double> until, ended, lost;
  double arrivals = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const result outcome_found = run(seed);
    arrivals += outcome_found.until_good < never;
    until.push_back(outcome_found.until_good);
    ended.push_back(outcome_found.ended_at);
    lost.push_back(outcome_found.lost);
  }
  char good[32] = "null";
  if (median_of(until) < never) std::snprintf(good, sizeof good, "%.0f", median_of(until));
  std::printf("%s\"%.*s\": [%s, %.4f, %.4f, %.4f]", before, static_cast<int>(name.size()), name.data(), good,
              arrivals / static_cast<double>(seeds), median_of(ended), median_of(lost));
}

void print_searches(const char* title, experiment runs, const surfaces::surface& surface, double best, double noise) {
  std::printf(", \"%s\": {", title);
  for (const search_kind kind : all_searches)
    print_over_seeds(name_of(kind), kind == all_searches[0] ? "" : ", ",
                     [&](std::uint64_t seed) { return runs(kind, surface, best, noise, seed); });
  std::printf("}");
}

// It searches numbers of threads, schedules and chunks.
void print_arcs(const surfaces::surface& surface, double best, double noise) {
  const bool is_loop =
      std::any_of(surface.knobs.begin(), surface.knobs.end(), [](const knob& knob) { return knob.name == "schedule"; });
  std::printf(", \"arcs\": {");
  for (const arcs_kind kind : {arcs_kind::online, arcs_kind::offline})
    if (is_loop)
      print_over_seeds(
          kind == arcs_kind::online ? "arcs-online" : "arcs-offline", kind == arcs_kind::online ? "" : ", ",
          [&](std::uint64_t seed) { return within_a_run(std::make_unique<arcs>(kind, seed), surface, best, noise, seed); });
  std::printf("}");
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char letter : text) all.append(letter == '"' || letter == '\\' ? "\\" : "").push_back(letter);
  return all.append("\"");
}

void print_case(const surfaces::surface& surface, const surfaces::surface_recording::about* recorded, const char* before) {
  const std::vector<double> all = surfaces::all_seconds(surface);
  const double best = *std::min_element(all.begin(), all.end());
  std::printf("%s\n  {\"surface\": %s, \"about\": %s, \"is_recorded\": %s, \"points\": %llu, \"start\": %.4f", before,
              quoted(surface.name).c_str(), quoted(recorded == nullptr ? "" : recorded->text).c_str(),
              recorded == nullptr ? "false" : "true",
              static_cast<unsigned long long>(space_of(surface.knobs, surface.start).points()),
              surface.seconds(surface.start) / best);
  std::printf(", \"good\": %d, \"worst\": %.2f",
              static_cast<int>(std::count_if(all.begin(), all.end(), [&](double ratio) { return ratio <= 1.05 * best; })),
              *std::max_element(all.begin(), all.end()) / best);
  if (recorded != nullptr)
    std::printf(", \"best_us\": %.4g, \"spread\": %.4f, \"rounds\": %.4f", best * 1e6, recorded->spread, recorded->rounds);
  print_searches("alone", alone, surface, best, modelled_noise);
  print_searches("tuned", tuned, surface, best, modelled_noise);
  print_arcs(surface, best, modelled_noise);
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  surfaces::surface_recording recorded;
  try {
    recorded = surfaces::recording_reader::read(argc > 1 ? argv[1] : TRIMTAB_RECORDED_SURFACES);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "search_table: %s\n", error.what());
    return 2;
  }
  std::printf("{\"format\": 1, \"noise\": %g, \"seeds\": %d, \"recorded_on\": [", modelled_noise, static_cast<int>(seeds));
  const char* before = "";
  for (const std::string& line : recorded.machine) {
    std::printf("%s%s", before, quoted(line).c_str());
    before = ", ";
  }
  std::printf("], \"cases\": [");
  before = "";
  for (std::size_t i = 0; i < recorded.all.size(); ++i) {
    print_case(recorded.all[i], &recorded.abouts[i], before);
    before = ",";
  }
  for (const surfaces::surface& surface : surfaces::all_surfaces()) print_case(surface, nullptr, ",");
  std::printf("\n]}\n");
  return 0;
}
