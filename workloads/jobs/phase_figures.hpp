// Figures of a phase of a job: its time, and what its messages cost. Printed for each phase and in all, by locality 0.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "job_program.hpp"
#include "trimtab/parcels/counters/counters.hpp"

namespace workload {

// Of this locality.
struct phase_figures {
  double time_s = 0;
  double overhead = 0;       // network overhead as published: time spent on messages / time spent on tasks
  double queued_wait_s = 0;  // workers waited while parcels of theirs were queued
  double parcels = 0, messages = 0;
};

inline double counter_between(trimtab::job& job, const char* path, const trimtab::parcels::traffic_snapshot& first,
                              const trimtab::parcels::traffic_snapshot& last) {
  const double value = trimtab::parcels::find_counters(job, path).at(0).value(last, first);
  return value == value ? value : 0;
}

inline phase_figures figures_between(trimtab::job& job, const trimtab::parcels::traffic_snapshot& first,
                                     const trimtab::parcels::traffic_snapshot& last, double time_s) {
  // The counter is a share of both.
  const double share = std::min(counter_between(job, "/parcels/network-overhead", first, last), 0.999);
  return {time_s, share / (1 - share), counter_between(job, "/parcels/time/queued-wait", first, last),
          counter_between(job, "/parcels/count/sent", first, last),
          counter_between(job, "/messages/count/sent", first, last)};
}

inline void print_figures(const std::string& prefix, const phase_figures& figures) {
  const double per_message = figures.messages > 0 ? figures.parcels / figures.messages : 0;
  std::printf("%stime_s=%.9g\n%soverhead=%.6g\n%squeued_wait_s=%.6g\n%sparcels_a_message=%.6g\n", prefix.c_str(),
              figures.time_s, prefix.c_str(), figures.overhead, prefix.c_str(), figures.queued_wait_s, prefix.c_str(),
              per_message);
}

// Runs phases one after the other, each between two barriers, and prints their figures and those of all together.
// Collective. Returns the time of all.
template <class function>
double run_phases(trimtab::job& job, std::int64_t phases, function&& phase) {
  const trimtab::parcels::traffic_snapshot begin(job);
  std::vector<phase_figures> each;
  double time_s = 0;
  for (std::int64_t number = 0; number < phases; ++number) {
    const trimtab::parcels::traffic_snapshot before(job);
    each.push_back({.time_s = timed(job, [&] { phase(number); })});
    each.back() = figures_between(job, before, trimtab::parcels::traffic_snapshot(job), each.back().time_s);
    time_s += each.back().time_s;
  }
  if (job.here().number() != 0) return time_s;
  for (std::size_t number = 0; number < each.size(); ++number)
    print_figures("phase" + std::to_string(number + 1) + "_", each[number]);
  phase_figures total = figures_between(job, begin, trimtab::parcels::traffic_snapshot(job), time_s);
  std::printf("overhead=%.6g\nqueued_wait_s=%.6g\nparcels_a_message=%.6g\n", total.overhead, total.queued_wait_s,
              total.messages > 0 ? total.parcels / total.messages : 0);
  return time_s;
}

// Published rules for a phase, from the command line: --count, --wait in us, --count-factor: the count of each phase is so
// many times that of the one before. --count 0: the rules that adapt themselves.
struct phase_settings {
  std::int64_t count, wait_us, factor;
  explicit phase_settings(command_line& line)
      : count(line.number("--count", 0, 0, 1'000'000)),
        wait_us(line.number("--wait", 4000, 0, 1'000'000)),
        factor(line.number("--count-factor", 1, 1, 1000)) {}
  trimtab::coalescing of(std::int64_t phase) const {
    std::int64_t parcels = count;
    for (std::int64_t i = 0; i < phase; ++i) parcels = std::min<std::int64_t>(parcels * factor, 1'000'000);
    if (parcels == 0) return {};
    return {.rules = trimtab::coalescing::way::strict,
            .count = static_cast<std::uint32_t>(parcels),
            .wait_us = static_cast<std::uint32_t>(wait_us)};
  }
};

}  // namespace workload
