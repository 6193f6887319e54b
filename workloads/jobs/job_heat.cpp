// Heat on a ring: the points are divided among the localities, which exchange their edges before each step.
#include <cmath>
#include <cstdint>
#include <vector>

#include "ghosts.hpp"
#include "job_program.hpp"

namespace {

double start_of(std::int64_t point) {
  return static_cast<double>(workload::mixed(static_cast<std::uint64_t>(point)) % 1000);
}
double next_of(double lower, double own, double upper) { return own + 0.25 * (lower - 2 * own + upper); }

std::vector<double> start_of(workload::span_of_items part) {
  std::vector<double> points;
  for (std::int64_t point = part.first; point < part.last; ++point) points.push_back(start_of(point));
  return points;
}

void advance(std::vector<double>& points, double lower, double upper) {
  double previous = lower;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double own = points[i];
    points[i] = next_of(previous, own, i + 1 < points.size() ? points[i + 1] : upper);
    previous = own;
  }
}

void advance_in_ring(trimtab::job& job, std::vector<double>& points, std::int64_t steps) {
  const std::uint32_t size = job.size(), own = job.here().number();
  const trimtab::locality before = job.at((own + size - 1) % size), behind = job.at((own + 1) % size);
  for (std::int64_t step = 0; step < steps; ++step) {
    workload::send_ghost(before, workload::side::upper, step, {points.front()});
    workload::send_ghost(behind, workload::side::lower, step, {points.back()});
    const double lower = workload::receive_ghost(workload::side::lower, step).front();
    advance(points, lower, workload::receive_ghost(workload::side::upper, step).front());
  }
}

std::uint64_t count_wrong(const std::vector<double>& points, std::int64_t first, std::int64_t count, std::int64_t steps) {
  std::vector<double> serial = start_of({0, count});
  for (std::int64_t step = 0; step < steps; ++step) {
    const double lower = serial.back(), upper = serial.front();
    advance(serial, lower, upper);
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i) wrong += points[i] != serial[static_cast<std::size_t>(first) + i];
  return wrong;
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
    std::vector<double> points = start_of(part);
    const double time_s = workload::timed(job, [&] { advance_in_ring(job, points, steps); });
    return workload::conclude(job, time_s, line.is_checked ? count_wrong(points, part.first, count, steps) : 0);
  });
}
