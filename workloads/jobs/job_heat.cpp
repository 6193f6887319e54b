// Heat on a ring: the points are divided among the localities, which exchange their edges before each step.
#include <cstdint>
#include <vector>

#include "ghosts.hpp"
#include "heat_points.hpp"
#include "job_program.hpp"

namespace {

void advance_in_ring(trimtab::job& job, std::vector<double>& points, std::int64_t steps) {
  const std::uint32_t size = job.size(), own = job.here().number();
  const trimtab::locality before = job.at((own + size - 1) % size), behind = job.at((own + 1) % size);
  for (std::int64_t step = 0; step < steps; ++step) {
    workload::send_ghost(before, workload::side::upper, step, {points.front()});
    workload::send_ghost(behind, workload::side::lower, step, {points.back()});
    const double lower = workload::receive_ghost(workload::side::lower, step).front();
    workload::heat::advance(points, lower, workload::receive_ghost(workload::side::upper, step).front());
  }
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t count = line.number("--points", 100'000, 2);
  const std::int64_t steps = line.number("--steps", 200, 0);
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    if (count < job.size()) line.fail("--points", "at least one for each locality", std::to_string(count));
    const workload::span_of_items part = workload::part_of(count, job.here().number(), job.size());
    std::vector<double> points = workload::heat::start_of(part);
    const double time_s = workload::timed(job, [&] { advance_in_ring(job, points, steps); });
    return workload::conclude(job, time_s,
                              line.is_checked ? workload::heat::count_wrong(points, part.first, count, steps) : 0);
  });
}
