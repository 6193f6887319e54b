// A mesh that is refined around a moving front: blocks of points on a ring, of which those near the front make ten times as
// many small steps as the others. Each locality owns neighbouring blocks. With --placement fixed it also computes them; with
// --placement balanced each block is computed where there is little to do, and comes back.
#include <cstdint>
#include <utility>
#include <vector>

#include "ghosts.hpp"
#include "job_program.hpp"

namespace {

struct mesh {
  std::int64_t blocks, points, small_steps, steps, turn;  // points: of a block; small_steps: of one that is not refined
};
constexpr std::int64_t refined_more = 10;

using block = std::vector<double>;

block start_of(const mesh& whole, std::int64_t number) {
  block points;
  for (std::int64_t i = 0; i < whole.points; ++i) {
    const auto point = static_cast<std::uint64_t>(number * whole.points + i);
    points.push_back(static_cast<double>(workload::mixed(point) % 1000) / 1000);
  }
  return points;
}

// A quarter of the ring is near the front, which goes around once in `turn` steps.
std::int64_t small_steps_of(const mesh& whole, std::int64_t number, std::int64_t step) {
  const std::int64_t front = step * whole.blocks / whole.turn % whole.blocks;
  const bool is_refined = (number - front + whole.blocks) % whole.blocks < (whole.blocks + 3) / 4;
  return whole.small_steps * (is_refined ? refined_more : 1);
}

// Diffusion and growth; the values behind the edges stay as they are during one step.
block advance(block points, double lower, double upper, std::int64_t small_steps) {
  const double time = 0.2 / static_cast<double>(small_steps);
  for (std::int64_t small_step = 0; small_step < small_steps; ++small_step) {
    double previous = lower;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double own = points[i], next = i + 1 < points.size() ? points[i + 1] : upper;
      points[i] = own + time * (previous - 2 * own + next + own * (1 - own));
      previous = own;
    }
  }
  return points;
}

void advance_own(trimtab::job& job, const mesh& whole, workload::span_of_items part, std::vector<block>& own,
                 bool is_balanced) {
  const std::uint32_t size = job.size(), number = job.here().number();
  const trimtab::locality before = job.at((number + size - 1) % size), behind = job.at((number + 1) % size);
  for (std::int64_t step = 0; step < whole.steps; ++step) {
    workload::send_ghost(before, workload::side::upper, step, {own.front().front()});
    workload::send_ghost(behind, workload::side::lower, step, {own.back().back()});
    std::vector<double> edges{workload::receive_ghost(workload::side::lower, step).front()};
    for (const block& one : own) edges.push_back(one.back());
    std::vector<double> uppers;
    for (std::size_t i = 1; i < own.size(); ++i) uppers.push_back(own[i].front());
    uppers.push_back(workload::receive_ghost(workload::side::upper, step).front());
    std::vector<trimtab::future<block>> results;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t small_steps = small_steps_of(whole, part.first + static_cast<std::int64_t>(i), step);
      results.push_back(is_balanced
                            ? trimtab::async_balanced(job, advance, std::move(own[i]), edges[i], uppers[i], small_steps)
                            : trimtab::async(job.here(), advance, std::move(own[i]), edges[i], uppers[i], small_steps));
    }
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = results[i].get();
  }
}

std::uint64_t count_wrong(const mesh& whole, workload::span_of_items part, const std::vector<block>& own) {
  std::vector<block> serial;
  for (std::int64_t number = 0; number < whole.blocks; ++number) serial.push_back(start_of(whole, number));
  const std::size_t count = serial.size();
  for (std::int64_t step = 0; step < whole.steps; ++step) {
    std::vector<block> next;
    for (std::size_t i = 0; i < count; ++i)
      next.push_back(advance(serial[i], serial[(i + count - 1) % count].back(), serial[(i + 1) % count].front(),
                             small_steps_of(whole, static_cast<std::int64_t>(i), step)));
    serial = std::move(next);
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < own.size(); ++i) wrong += own[i] != serial[static_cast<std::size_t>(part.first) + i];
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const mesh whole{line.number("--blocks", 64, 1, 1'000'000), line.number("--points", 2000, 1, 1'000'000),
                   line.number("--small-steps", 100, 1, 1'000'000), line.number("--steps", 40, 1, 1'000'000),
                   line.number("--turn", 160, 1, 1'000'000)};
  const bool is_balanced = line.word("--placement", {"fixed", "balanced"}) == "balanced";
  line.end();
  const auto body = [&](trimtab::job& job) {
    if (whole.blocks < job.size()) line.fail("--blocks", "at least one for each locality", std::to_string(whole.blocks));
    const workload::span_of_items part = workload::part_of(whole.blocks, job.here().number(), job.size());
    std::vector<block> own;
    for (std::int64_t number = part.first; number < part.last; ++number) own.push_back(start_of(whole, number));
    const double time_s = workload::timed(job, [&] { advance_own(job, whole, part, own, is_balanced); });
    return workload::conclude(job, time_s, line.is_checked ? count_wrong(whole, part, own) : 0);
  };
  return workload::run_in_job(line, body, {.shares_load = is_balanced});
}
