// A late locality on purpose: in each step every locality computes on its own numbers and then takes part in a sum over
// all. One of them has --severity times the numbers of the others, or joins --delay-ms later than they do.
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "job_program.hpp"

namespace {

// A linear congruential generator run so many times; its answer cannot be known without doing it.
std::uint64_t stir(std::uint64_t value, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

struct late_plan {
  std::int64_t numbers, severity, late, steps;
  std::int64_t numbers_of(std::int64_t locality) const { return locality == late ? numbers * severity : numbers; }
};

[[gnu::noinline]] std::uint64_t compute(const late_plan& plan, std::int64_t locality, std::int64_t step) {
  return stir(static_cast<std::uint64_t>(locality * plan.steps + step), plan.numbers_of(locality));
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const late_plan plan{line.number("--numbers", 200'000, 1), line.number("--severity", 4, 1), line.number("--late", 1, 0),
                       line.number("--steps", 50, 1)};
  const std::int64_t delay_ms = line.number("--delay-ms", 0, 0);
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    const std::int64_t own = job.here().number();
    if (own == plan.late && delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    std::uint64_t sum = 0, expected = 0;
    const double time_s = workload::timed(job, [&] {
      for (std::int64_t step = 0; step < plan.steps; ++step) sum += job.all_reduce(compute(plan, own, step), std::plus<>());
    });
    if (line.is_checked)
      for (std::int64_t step = 0; step < plan.steps; ++step)
        for (std::int64_t locality = 0; locality < job.size(); ++locality) expected += compute(plan, locality, step);
    return workload::conclude(job, time_s, line.is_checked && sum != expected ? 1 : 0);
  });
}
