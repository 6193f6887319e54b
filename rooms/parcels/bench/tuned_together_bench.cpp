// How long two localities take to tune the same knobs on this machine, each alone and both together. Two processes, each
// pinned to a CPU and with one worker, that compute; the cost of each setting is known by counting, so the best one is
// known.
// A step's cost is its CPU time: what other programs take of the CPUs makes a search slower, but does not mislead it.
//
//   tuned_together_bench [ROUNDS] [SEARCH]    prints medians of pairs; each round has both, in random order
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/parcels/job/tuned_together.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"
#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/random.hpp"

namespace {

using namespace trimtab::parcels;

constexpr std::int64_t points = 16'384;

// What a step computes per point: to begin a block costs as much as 200 points, and larger blocks cost more for each point,
// as those that do not fit a cache do; the depth of the pipeline is best at 5. Counted in steps of `mix`.
double steps_of(std::span<const std::int64_t> values) {
  const double block = static_cast<double>(values[0]), depth = static_cast<double>(values[1]);
  return 200 / block + 4 + block / 64 + 0.5 * std::abs(depth - 5);
}

std::uint64_t scratch = 1;

void compute(double steps) {
  for (auto i = static_cast<std::int64_t>(steps); i > 0; --i) scratch = trimtab::base::mix(scratch);
}

// The answer is the same whatever the values are.
std::uint64_t work(std::span<const std::int64_t> values) {
  std::uint64_t answer = 0;
  const std::int64_t block = values[0];
  for (std::int64_t first = 0; first < points; first += block)
    for (std::int64_t i = first; i < std::min(points, first + block); ++i)
      answer += trimtab::base::mix(static_cast<std::uint64_t>(i));
  compute(static_cast<double>(points) * steps_of(values));
  return answer;
}

const std::vector<tuned_knob> knobs{{"block", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, 8},
                                    {"depth", {1, 2, 3, 4, 5, 6, 7, 8}, 1}};

struct search_result {
  double seconds = 0, ended_at = 0, samples = 0;
};

search_result search_in(job& own, trimtab::steer::search_kind kind, std::uint64_t right_answer) {
  const std::vector<std::int64_t> best{128, 5};
  const auto begin = std::chrono::steady_clock::now();
  tuned_together_options options;
  options.search.kind = kind;
  tuned_together tuned(own, "stencil", knobs, options);
  search_result result;
  while (!tuned.is_settled()) {
    const double before = trimtab::base::thread_seconds();
    if (work(tuned.values()) != right_answer) {
      std::fprintf(stderr, "wrong answer\n");
      std::_Exit(1);
    }
    tuned.sample(trimtab::base::thread_seconds() - before);
    result.samples += 1;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.ended_at = steps_of(tuned.values()) / steps_of(best);
  return result;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

void take_part(locality_number number, const std::string& path, int rounds, trimtab::steer::search_kind kind) {
  pin_to(static_cast<int>(number));
  membership self;
  self.number = number;
  self.size = 2;
  opened_transport opened = open_shm(self, {path, 1 << 20});
  if (opened.link == nullptr) {
    std::fprintf(stderr, "%s\n", opened.error.c_str());
    std::_Exit(1);
  }
  job_options options;
  options.runtime.workers = 1;
  job both(std::move(opened.link), options);
  const std::uint64_t right_answer = work(std::vector<std::int64_t>{1, 1});
  std::vector<double> times[2], ratios, ended[2], samples[2];
  trimtab::steer::random_source random(1);
  const auto later = [](double a, double b) { return std::max(a, b); };
  for (int round = 0; round < rounds; ++round) {
    double seconds[2] = {};
    const int first = random.coin() ? 1 : 0;  // the same on both
    for (const int is_together : {first, 1 - first}) {
      both.barrier();
      search_result own;
      if (is_together == 1) {
        own = search_in(both, kind, right_answer);
      } else {
        job_options of_one;
        of_one.home = &both.home();
        job alone(nullptr, of_one);
        own = search_in(alone, kind, right_answer);
      }
      seconds[is_together] = both.all_reduce(own.seconds, later);
      ended[is_together].push_back(both.all_reduce(own.ended_at, later));
      samples[is_together].push_back(both.all_reduce(own.samples, [](double a, double b) { return a + b; }));
      times[is_together].push_back(seconds[is_together]);
    }
    ratios.push_back(seconds[1] / seconds[0]);
  }
  if (number != 0) return;
  std::sort(ratios.begin(), ratios.end());
  using trimtab::steer::median_of;
  std::printf("%d pairs of searches, 2 localities, medians\n", rounds);
  for (const int is_together : {0, 1})
    std::printf("%-8s %.3f s, %.0f measurements, ended at %.3f of the best cost\n", is_together ? "together" : "alone",
                median_of(times[is_together]), median_of(samples[is_together]), median_of(ended[is_together]));
  std::printf("together / alone: %.2f (quartiles %.2f to %.2f)\n", median_of(ratios), ratios[ratios.size() / 4],
              ratios[ratios.size() * 3 / 4]);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  const auto kind = trimtab::steer::search_named(argc > 2 ? argv[2] : "parallel-rank-order");
  if (!kind) {
    std::fprintf(stderr, "tuned_together_bench: expected the name of a search, found '%s'\n", argv[2]);
    return 2;
  }
  const int file = memfd_create("tuned_together_bench", MFD_CLOEXEC);
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
  const pid_t other = fork();
  if (other == 0) {
    take_part(1, path, rounds, *kind);
    return 0;
  }
  take_part(0, path, rounds, *kind);
  int status = 0;
  waitpid(other, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
