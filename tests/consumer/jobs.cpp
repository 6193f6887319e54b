// The examples of docs/guide/jobs.md and jobs-tuning.md, as one program: `jobs NAME`.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "trimtab/parcels.hpp"

namespace hello {

// clang-format off
int square(int x) { return x * x; }

int main() {
  trimtab::job job;  // every process comes here
  if (job.here().number() == 0)
    for (trimtab::locality where : job.localities())
      std::printf("%u: %d\n", where.number(), trimtab::async(where, square, 3).get());
  return 0;
}  // waits until all localities come here
// clang-format on

}  // namespace hello

namespace calls {

// clang-format off
struct particle { double position[3]; std::string name; };  // aggregates are sent as they are

double distance(const particle& a, const std::vector<particle>& others);
// clang-format on

double distance(const particle& a, const std::vector<particle>& others) {
  double sum = 0;
  for (const particle& other : others)
    for (int i = 0; i < 3; ++i) sum += a.position[i] - other.position[i];
  return sum;
}

std::map<std::string, int> counts;
void count_here(std::string word) { ++counts[word]; }

double ask(trimtab::job& job, const particle& sun, const std::vector<particle>& planets) {
  // clang-format off
  trimtab::locality where = job.at(job.size() - 1);
  trimtab::future<double> sum = trimtab::async(where, distance, sun, planets);
  trimtab::post(where, count_here, std::string("asked"));         // without an answer
  auto twice = trimtab::async(where, [](int x) { return 2 * x; }, 21);  // a lambda without captures
  const double all = job.all_reduce(sum.get() + twice.get(), std::plus<>());
  // clang-format on
  return all;
}

int main() {
  trimtab::job job;
  const double all = ask(job, {{1, 1, 1}, "sun"}, {{{0, 0, 0}, "earth"}, {{0, 0, 1}, "mars"}});
  job.wait_until_quiet();
  const bool has_counted = job.here().number() + 1 != job.size() || counts["asked"] == static_cast<int>(job.size());
  if (job.here().number() == 0) std::printf("%g\n", all);
  return has_counted ? 0 : 1;
}

}  // namespace calls

namespace coalesced {

std::atomic<long> received{0};
void add(long value) { received += value; }

int main() {
  // clang-format off
  trimtab::job job({.standard = {.rules = trimtab::coalescing::way::strict, .count = 64, .wait_us = 500}});
  trimtab::set_coalescing(add, trimtab::coalescing{});  // this function's parcels: adaptive
  // clang-format on
  job.home().run([&] {
    for (trimtab::locality where : job.localities())
      for (long value = 1; value <= 100; ++value) trimtab::post(where, add, value);
  });
  job.wait_until_quiet();
  return received == 5050 * static_cast<long>(job.size()) ? 0 : 1;
}

}  // namespace coalesced

namespace phases {

int count(int value) { return value + 1; }

int main() {
  trimtab::job job;
  // clang-format off
  job.begin_phase("rotation");
  // clang-format on
  int sum = 0;
  for (trimtab::locality where : job.localities()) sum += trimtab::async(where, count, 1).get();
  return sum == 2 * static_cast<int>(job.size()) ? 0 : 1;
}

}  // namespace phases

namespace together {

constexpr std::int64_t size = 256;
std::vector<double> from(size* size), to(size* size);

void transpose(std::int64_t block) {
  for (std::int64_t row = 0; row < size; row += block)
    for (std::int64_t column = 0; column < size; column += block)
      for (std::int64_t i = row; i < row + block; ++i)
        for (std::int64_t k = column; k < column + block; ++k) to[k * size + i] = from[i * size + k];
}

int main() {
  trimtab::job job;
  for (std::int64_t i = 0; i < size * size; ++i) from[i] = static_cast<double>(i);
  // clang-format off
  trimtab::tuned_together tuned(job, "transpose", {{"block", {1, 2, 4, 8, 16, 32, 64, 128, 256}, 256}});
  for (int step = 0; step < 500; ++step) {
    tuned.begin();
    transpose(tuned.value());
    tuned.end();  // measured; the next step may have another block
  }
  // clang-format on
  for (std::int64_t i = 0; i < size * size; ++i)
    if (to[i % size * size + i / size] != static_cast<double>(i)) return 1;
  return 0;
}

}  // namespace together

namespace served {

int twice(int x) { return 2 * x; }

int main() {
  trimtab::job job({.servers = 1});
  // clang-format off
  if (trimtab::parcels::served_transport* const servers = job.servers()) {
    servers->wind_up(1);   // one more
    servers->disable();    // everybody sends for themselves, from now on
    servers->enable();
  }
  // clang-format on
  return trimtab::async(job.at(job.size() - 1), twice, 21).get() == 42 ? 0 : 1;
}

}  // namespace served

namespace balanced {

long cost_of(int block) { return block % 4 == 0 ? 40 : 4; }
long refine(int block) { return 2 * cost_of(block); }
long join(long one, long other) { return one + other; }

int main() {
  // clang-format off
  trimtab::job job({.shares_load = true, .sharing = {.values = 1}});
  // clang-format on
  return job.home().run([&job] {
    const double share_of_blocks_left = 0.5;
    // clang-format off
  std::vector<trimtab::future<long>> refined;
  for (int block = 0; block < 40; ++block) refined.push_back(trimtab::async_balanced(refine, block));
  // Placed when both futures are ready.
  trimtab::future<long> sum = trimtab::async_balanced(join, std::move(refined[0]), std::move(refined[1]));

  job.set_value(0, share_of_blocks_left);  // others see it some milliseconds later
  for (const trimtab::known_load& other : job.view())
    if (other.is_known)
      std::fprintf(stderr, "%u: %g tasks, %g %u periods ago\n", other.number, other.tasks, other.values[0], other.age);
    // clang-format on
    long all = sum.get();
    for (std::size_t block = 2; block < refined.size(); ++block) all += refined[block].get();
    const std::vector<long> of_all = job.all_gather(all);
    for (const long one : of_all)
      if (one != 10 * 80 + 30 * 8) return 1;
    return 0;
  });
}

}  // namespace balanced

namespace failures {

int checked_root(int x) {
  if (x < 0) throw std::range_error("expected a number from 0");
  return x / 2;
}

int main() {
  trimtab::job job;
  trimtab::locality where = job.at(job.size() - 1);
  // clang-format off
  try {
    trimtab::async(where, checked_root, -1).get();
  } catch (const std::range_error& error) {  // thrown there
    std::printf("%s\n", error.what());
  }
  // clang-format on
  return 0;
}

}  // namespace failures

// Not in the guide.
namespace limits {

// What a program that a locality starts has of the job.
int start_child() {
  const trimtab::job job;
  return std::system("echo \"${TRIMTAB_JOB_SECRET:-no secret}, ${TRIMTAB_JOB_PATH:-no path}, number $TRIMTAB_JOB_RANK\"");
}

trimtab::locality_number number_here() { return trimtab::find_here().number(); }

// The others have nothing to do: they answer in the destructor.
int ask_who_waits() {
  trimtab::job job;
  if (job.here().number() != 0) return 0;
  for (int round = 0; round < 100; ++round)
    for (const trimtab::locality where : job.localities())
      if (trimtab::async(where, number_here).get() != where.number()) return 1;
  return 0;
}

int join_again() {
  {
    const trimtab::job first;
  }
  try {
    const trimtab::job second;
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
  }
  return 0;
}

}  // namespace limits

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "hello";
  if (std::strcmp(name, "hello") == 0) return hello::main();
  if (std::strcmp(name, "calls") == 0) return calls::main();
  if (std::strcmp(name, "coalesced") == 0) return coalesced::main();
  if (std::strcmp(name, "phases") == 0) return phases::main();
  if (std::strcmp(name, "together") == 0) return together::main();
  if (std::strcmp(name, "served") == 0) return served::main();
  if (std::strcmp(name, "balanced") == 0) return balanced::main();
  if (std::strcmp(name, "failures") == 0) return failures::main();
  if (std::strcmp(name, "child") == 0) return limits::start_child();
  if (std::strcmp(name, "asked") == 0) return limits::ask_who_waits();
  if (std::strcmp(name, "again") == 0) return limits::join_again();
  std::fprintf(stderr,
               "jobs: expected hello, calls, coalesced, phases, together, served, balanced or failures, found '%s'\n", name);
  return 2;
}
