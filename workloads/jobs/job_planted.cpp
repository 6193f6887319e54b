// A late locality on purpose, with the same work whoever does it: in each step the localities draw the points of some blocks
// (pi by Monte Carlo), and then take part in a sum over all. The last locality takes --severity % of the blocks that the
// others should do; with 0 all have equal shares.
#include <cstdint>
#include <functional>

#include "../points.h"
#include "job_program.hpp"

namespace {

struct late_plan {
  std::int64_t severity, blocks, points, steps;

  // The first block of a locality; that of the one after the last: all.
  std::int64_t begin_of(std::int64_t locality, std::int64_t localities) const {
    const std::int64_t others = blocks - blocks / localities, taken = others * severity / 100;
    return locality == localities ? blocks : (others - taken) * locality / std::max<std::int64_t>(localities - 1, 1);
  }
};

[[gnu::noinline]] std::int64_t hits_of_blocks(const late_plan& plan, std::int64_t step, std::int64_t begin,
                                              std::int64_t end) {
  std::int64_t hits = 0;
  for (std::int64_t block = begin; block < end; ++block) hits += hits_of_block(step * plan.blocks + block, plan.points);
  return hits;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const late_plan plan{line.number("--severity", 60, 0, 100), line.number("--blocks", 32), line.number("--size", 20'000),
                       line.number("--steps", 40)};
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    const std::int64_t own = job.here().number(), begin = plan.begin_of(own, job.size()),
                       end = plan.begin_of(own + 1, job.size());
    std::int64_t hits = 0, expected = 0;
    const double time_s = workload::timed(job, [&] {
      for (std::int64_t step = 0; step < plan.steps; ++step)
        hits += job.all_reduce(hits_of_blocks(plan, step, begin, end), std::plus<>());
    });
    for (std::int64_t step = 0; line.is_checked && step < plan.steps; ++step)
      expected += hits_of_blocks(plan, step, 0, plan.blocks);
    return workload::conclude(job, time_s, line.is_checked && hits != expected ? 1 : 0);
  });
}
