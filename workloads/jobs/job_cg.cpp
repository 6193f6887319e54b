// Conjugate gradients for the equation of Poisson on a square, whose rows are divided among the localities: in each step an
// exchange of edges between neighbours and two sums over all.
#include <cstdint>
#include <vector>

#include "ghosts.hpp"
#include "job_program.hpp"
#include "poisson.hpp"

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 200, 1, 20'000);
  const std::int64_t steps = line.number("--steps", 50, 0, 100'000);
  const std::int64_t repeats = line.number("--repeats", 1, 1, 100'000);  // solves the same equation again
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    if (size < job.size()) line.fail("--size", "at least one row for each locality", std::to_string(size));
    const workload::span_of_items rows = workload::part_of(size, job.here().number(), job.size());
    const workload::poisson::square_part part(size, rows, workload::network_of(job));
    std::vector<double> x;
    const double time_s = workload::timed(job, [&] {
      for (std::int64_t repeat = 0; repeat < repeats; ++repeat) x = part.solve(steps);
    });
    return workload::conclude(job, time_s, line.is_checked ? workload::poisson::count_wrong(x, size, steps, rows) : 0);
  });
}
