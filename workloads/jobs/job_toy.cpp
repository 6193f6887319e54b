// Calls in phases, as in the study of coalescing by Wagle, Kellar, Serio and Kaiser (IPDPSW 2018): in each phase all
// localities call the next one many times, for a complex number, and then wait for all results. Or, with --dependent, each
// call needs the result of the one before, so that nothing is gained by sending several together.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "phase_figures.hpp"

namespace {

using number = std::complex<double>;

number turned(number value, double by) { return value * number(0, 1) + by; }

// Values that differ from what turned() gives here.
std::uint64_t call_many(trimtab::locality other, std::int64_t calls) {
  std::vector<trimtab::future<number>> results;
  results.reserve(static_cast<std::size_t>(calls));
  for (std::int64_t i = 0; i < calls; ++i)
    results.push_back(trimtab::async(other, turned, number(static_cast<double>(i), 1), 0.5));
  std::uint64_t wrong = 0;
  for (std::int64_t i = 0; i < calls; ++i)
    wrong += results[static_cast<std::size_t>(i)].get() != turned(number(static_cast<double>(i), 1), 0.5);
  return wrong;
}

std::uint64_t call_in_a_chain(trimtab::locality other, std::int64_t calls) {
  number value(1, 1), expected(1, 1);
  for (std::int64_t i = 0; i < calls; ++i) {
    value = trimtab::async(other, turned, value, 0.5).get();
    expected = turned(expected, 0.5);
  }
  return value != expected;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t parcels = line.number("--parcels", 20'000, 1, 100'000'000);
  const std::int64_t phases = line.number("--phases", 4, 1, 1000);
  const bool is_dependent = line.number("--dependent", 0, 0, 1) != 0;
  const workload::phase_settings settings(line);
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    const trimtab::locality other = job.at((job.here().number() + 1) % job.size());
    std::uint64_t wrong = 0;
    const double time_s = workload::run_phases(job, phases, [&](std::int64_t phase) {
      job.set_coalescing(settings.of(phase));
      wrong += is_dependent ? call_in_a_chain(other, parcels) : call_many(other, parcels);
    });
    return workload::conclude(job, time_s, wrong);
  });
}
