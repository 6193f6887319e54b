// What the workloads of jobs have in common: the numbers of the command line, the time of all localities, and the verdict,
// which locality 0 prints.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <utility>

#include "../tasks/command_line.hpp"
#include "parts.hpp"
#include "trimtab/parcels.hpp"

namespace workload {

// Seconds that f takes, between two barriers, so that it is the time of the slowest locality.
template <class function>
double timed(trimtab::job& job, function&& f) {
  job.barrier();
  const auto begin = std::chrono::steady_clock::now();
  f();
  job.barrier();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Collective. wrong: values of this locality that differ from the serial ones. The program's exit status.
inline int conclude(trimtab::job& job, double time_s, std::uint64_t wrong) {
  const std::uint64_t all_wrong = job.all_reduce(wrong, std::plus<>());
  if (job.here().number() == 0)
    std::printf("localities=%u\nworkers=%u\ntime_s=%.9g\ncheck=%s\n", job.size(), job.home().workers(), time_s,
                all_wrong == 0 ? "right" : "wrong");
  if (wrong != 0)
    std::fprintf(stderr, "locality %u: %llu values differ from the serial result\n", job.here().number(),
                 static_cast<unsigned long long>(wrong));
  return all_wrong == 0 ? 0 : 1;
}

// The program: body(job) on a worker of each locality. Errors of the start end it with exit code 2.
inline int run_in_job(const command_line& line, const std::function<int(trimtab::job&)>& body,
                      trimtab::job_options options = {}) {
  options.runtime = line.runtime;
  std::optional<trimtab::job> job;
  try {
    job.emplace(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", line.program().c_str(), error.what());
    return 2;
  }
  return job->home().run([&] { return body(*job); });
}

}  // namespace workload
