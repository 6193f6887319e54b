// workloads/jobs/job_cg.cpp in plain MPI.
#include "mpi_program.hpp"
#include "poisson.hpp"

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const std::int64_t size = self.number("--size", 200), steps = self.number("--steps", 50);
  const std::int64_t repeats = self.number("--repeats", 1);
  const bool is_checked = !self.flag("--no-check");
  self.end();
  const workload::span_of_items rows = workload::part_of(size, self.rank, self.size);
  const workload::poisson::square_part part(size, rows, peer::network_of(self));
  std::vector<double> x;
  const double time_s = self.timed([&] {
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) x = part.solve(steps);
  });
  return self.conclude(time_s, is_checked ? workload::poisson::count_wrong(x, size, steps, rows) : 0);
}
