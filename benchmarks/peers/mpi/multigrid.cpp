// workloads/jobs/job_multigrid.cpp in plain MPI.
#include "../../../workloads/jobs/multigrid.hpp"

#include "mpi_program.hpp"

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const std::int64_t levels = self.number("--levels", 7), cycles = self.number("--cycles", 10);
  const bool is_checked = !self.flag("--no-check");
  self.end();
  const workload::multigrid::size all(levels, self.size);
  const workload::span_of_items rows = all.rows_of(self.rank);
  workload::multigrid::hierarchy own(all, rows, peer::network_of(self));
  const double time_s = self.timed([&] {
    for (std::int64_t cycle = 0; cycle < cycles; ++cycle) own.cycle();
  });
  return self.conclude(time_s, is_checked ? workload::multigrid::count_wrong(own, all, rows, cycles) : 0);
}
