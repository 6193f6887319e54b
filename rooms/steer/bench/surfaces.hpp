// Response surfaces: how long a region takes under (threads, schedule, chunk) or a loop of tasks under its grain. The ones
// here are modelled after what was published, of machines that are not at hand (32 threads), with what makes searches fail:
// plateaus, steps, a best point at a border, local optima; `noisy` adds what a machine does. Recorded ones:
// recorded_surfaces.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "trimtab/steer/random.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::steer::surfaces {

struct surface {
  std::string name;
  std::vector<knob> knobs;
  std::vector<knob_value> start;
  std::function<double(const std::vector<knob_value>& values)> seconds;
  std::vector<std::vector<knob_value>> hints;  // what the diagnosis of its start says
  // One measurement, as it was recorded with its noise; none of modelled ones.
  std::function<double(const std::vector<knob_value>& values, random_source& source)> recorded = nullptr;
};

// ARCS's search sets (Chaimov 2017, ch. 7).
inline std::vector<knob> arcs_knobs() {
  return {{"threads", *domain::set({2, 4, 8, 16, 24, 32}), 32, 0, consent::safe, 0, {}},
          {"schedule", *domain::categories({"static", "dynamic", "guided"}), 0, 0, consent::safe, 0, {}},
          {"chunk", *domain::set({1, 8, 16, 32, 64, 128, 256, 512}), 512, 0, consent::safe, 0, {}}};
}

// A loop of `iterations` that takes `work_s`, whose last block has `skew` times the mean work of one; memory for `useful`
// threads; `take_s` a chunk taken, contended; fork and join of `fork_s` a thread.
struct loop_model {
  double iterations, work_s, skew, useful, take_s, fork_s;
};
inline double seconds_of(const loop_model& surface, double threads, int schedule, double chunk) {
  const double parallel = std::min(threads, surface.useful) / (1 + 0.01 * std::max(0.0, threads - surface.useful));
  const double even = surface.work_s / parallel;
  const double chunks = std::max(1.0, surface.iterations / chunk);
  const double fork = surface.fork_s * threads;
  if (schedule == 0) {
    // Blocks of `chunk`, dealt out in turn: small ones level the skew out.
    const double rounds = std::max(1.0, chunks / threads);
    return fork + even * (1 + (surface.skew - 1) / rounds) + chunks / threads * surface.take_s * 0.05;
  }
  // The last chunk may begin when all else is done.
  const double tail = surface.work_s * surface.skew / chunks;
  if (schedule == 1)
    return fork + std::max(even, even * (1 - 1 / chunks) + tail) + chunks * surface.take_s * (1 + threads / 16) / threads;
  const double batches = threads * std::log2(1 + chunks);
  return fork + even * (1 + (surface.skew - 1) * 0.15) + std::max(0.0, tail - even / 4) + batches * surface.take_s / threads;
}

inline double imbalanced(const std::vector<knob_value>& v) {
  return seconds_of({4096, 1.0, 1.9, 32, 2e-7, 1e-5}, static_cast<double>(v[0]), static_cast<int>(v[1]),
                    static_cast<double>(v[2]));
}
inline double memory_bound(const std::vector<knob_value>& v) {
  return seconds_of({65536, 0.5, 1.0, 8, 1e-6, 1e-5}, static_cast<double>(v[0]), static_cast<int>(v[1]),
                    static_cast<double>(v[2]));
}
inline double tiny_region(const std::vector<knob_value>& v) {
  return seconds_of({512, 2e-4, 1.1, 32, 4e-7, 8e-6}, static_cast<double>(v[0]), static_cast<int>(v[1]),
                    static_cast<double>(v[2]));
}
// Six CPUs of 32 are others': teams that are larger wait for whoever lost its CPU, which hits static schedules most.
inline double oversubscribed(const std::vector<knob_value>& v) {
  const double threads = static_cast<double>(v[0]);
  const double base =
      seconds_of({8192, 0.4, 1.2, 26, 2e-7, 1e-5}, threads, static_cast<int>(v[1]), static_cast<double>(v[2]));
  return threads <= 26 ? base : base + (v[1] == 0 ? 0.03 : 0.012);
}
// Total time over the grain of a loop of tasks, powers of two: overhead below, starvation above, a plateau between.
inline double grain(const std::vector<knob_value>& v) {
  const double size = static_cast<double>(v[0]), all = 1 << 22, workers = 16;
  const double tasks = all / size;
  return all * 2e-9 / workers * (1 + workers / tasks / 2) + tasks * 4e-7 / workers + (tasks < workers ? 0.004 : 0);
}
// Two valleys, the nearer one worse: cache of a core and cache of the socket.
inline double two_valleys(const std::vector<knob_value>& v) {
  const double x = std::log2(static_cast<double>(v[0])), y = static_cast<double>(v[1]);
  return 0.01 * (2 - 0.6 * std::exp(-(x - 3) * (x - 3) / 6 - (y - 2) * (y - 2) / 6) -
                 1.0 * std::exp(-(x - 11) * (x - 11) / 8 - (y - 9) * (y - 9) / 10));
}

inline std::vector<surface> all_surfaces() {
  const knob grain_knob{"grain", *domain::powers_of_two(16, 1 << 22), 16, 0, consent::safe, 0, {}};
  const std::vector<knob> tile{{"tile", *domain::powers_of_two(1, 1 << 14), 1, 0, consent::safe, 0, {}},
                               {"unroll", *domain::range(0, 12), 0, 0, consent::safe, 0, {}}};
  return {{"imbalanced loop", arcs_knobs(), {32, 0, 512}, imbalanced, {{32, 1, 8}, {32, 2, 8}}},
          {"memory-bound loop", arcs_knobs(), {32, 0, 512}, memory_bound, {{16, 0, 512}, {8, 0, 512}}},
          {"tiny region", arcs_knobs(), {32, 0, 512}, tiny_region, {{8, 0, 512}, {2, 0, 512}}},
          {"oversubscribed", arcs_knobs(), {32, 0, 512}, oversubscribed, {{24, 0, 512}, {24, 1, 16}}},
          {"grain too small", {grain_knob}, {16}, grain, {{1024}, {65536}}},
          {"grain too large", {grain_knob}, {1 << 22}, grain, {{65536}, {1024}}},
          {"two valleys", tile, {8, 1}, two_valleys, {}}};
}

// What a machine adds: a spread of `share`, and now and then a thread that lost its CPU.
inline double noisy(double seconds, double share, random_source& source) {
  double normal = -6;
  for (int i = 0; i < 12; ++i) normal += source.share();
  const double disturbed = source.share() < 0.02 ? 1 + source.share() : 1;
  return seconds * std::max(0.5, 1 + share * normal) * disturbed;
}

// One measurement; of a modelled surface with this spread.
inline double measured(const surface& surface, const std::vector<knob_value>& values, double share, random_source& source) {
  return surface.recorded ? surface.recorded(values, source) : noisy(surface.seconds(values), share, source);
}

// The true time at each point.
inline std::vector<double> all_seconds(const surface& surface) {
  std::vector<double> all;
  const auto exhaustive = make_search(search_kind::exhaustive, space_of(surface.knobs, surface.start));
  while (const auto at = exhaustive->ask()) {
    all.push_back(surface.seconds(values_at(surface.knobs, *at)));
    exhaustive->tell(*at, all.back());
  }
  return all;
}
inline double best_of(const surface& surface) {
  const std::vector<double> all = all_seconds(surface);
  return *std::min_element(all.begin(), all.end());
}

}  // namespace trimtab::steer::surfaces
