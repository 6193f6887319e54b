// Multigrid for the equation of Poisson on a square, whose rows are divided among the localities: an exchange of edges
// before each step on each grid. On the coarse grids there is little to compute, and the messages are tiny.
#include <cstdint>
#include <vector>

#include "ghosts.hpp"
#include "job_program.hpp"
#include "multigrid.hpp"

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  // The finest grid has 2^levels - 1 points in each row and column, the coarsest one at least a row for each locality.
  const std::int64_t levels = line.number("--levels", 7, 1, 14);
  const std::int64_t cycles = line.number("--cycles", 10, 0, 100'000);
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    const workload::multigrid::size all(levels, job.size());
    if (all.grids == 0) line.fail("--levels", "at least one row for each locality", std::to_string(levels));
    const workload::span_of_items rows = all.rows_of(job.here().number());
    workload::multigrid::hierarchy own(all, rows, workload::network_of(job));
    const double time_s = workload::timed(job, [&] {
      for (std::int64_t cycle = 0; cycle < cycles; ++cycle) own.cycle();
    });
    return workload::conclude(job, time_s, line.is_checked ? workload::multigrid::count_wrong(own, all, rows, cycles) : 0);
  });
}
