// workloads/jobs/job_heat.cpp in plain MPI.
#include "heat_points.hpp"
#include "mpi_program.hpp"

namespace {

void advance_in_ring(const peer::program& self, std::vector<double>& points, std::int64_t steps) {
  const int before = (self.rank + self.size - 1) % self.size, behind = (self.rank + 1) % self.size;
  enum tag { to_lower, to_upper };
  for (std::int64_t step = 0; step < steps; ++step) {
    double lower = 0, upper = 0;
    const double first = points.front(), last = points.back();
    MPI_Request requests[4];
    MPI_Irecv(&lower, 1, MPI_DOUBLE, before, to_upper, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&upper, 1, MPI_DOUBLE, behind, to_lower, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&first, 1, MPI_DOUBLE, before, to_lower, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&last, 1, MPI_DOUBLE, behind, to_upper, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    workload::heat::advance(points, lower, upper);
  }
}

}  // namespace

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const std::int64_t count = self.number("--points", 100'000), steps = self.number("--steps", 200);
  const bool is_checked = !self.flag("--no-check");
  self.end();
  const workload::span_of_items part = workload::part_of(count, self.rank, self.size);
  std::vector<double> points = workload::heat::start_of(part);
  const double time_s = self.timed([&] { advance_in_ring(self, points, steps); });
  return self.conclude(time_s, is_checked ? workload::heat::count_wrong(points, part.first, count, steps) : 0);
}
