// A tree of tasks with ten children each, whose leaves give their numbers: what creating tasks costs, and how much
// memory is held while millions of them exist in turn.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

std::int64_t sum_of(std::int64_t first, std::int64_t leaves);

// Children from `lower` up to `last`, by halves.
std::int64_t children(std::int64_t first, std::int64_t element, int lower, int last) {
  if (last - lower == 1) return sum_of(first + lower * element, element);
  const int middle = (lower + last) / 2;
  std::int64_t a = 0, b = 0;
  trimtab::invoke([&] { a = children(first, element, lower, middle); }, [&] { b = children(first, element, middle, last); });
  return a + b;
}

std::int64_t sum_of(std::int64_t first, std::int64_t leaves) {
  return leaves == 1 ? first : children(first, leaves / 10, 0, 10);
}

// Of this program: what getrusage tells may be of who started it.
double peak_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t depth = line.number("--depth", 6, 0, 9);
  line.end();

  std::int64_t leaves = 1, tasks = 1;
  for (std::int64_t i = 0; i < depth; ++i) tasks += leaves *= 10;
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t answer = runtime.run([&] { return sum_of(0, leaves); });
  figures.stop();

  std::printf("leaves=%lld\ntasks=%lld\npeak_kb=%.0f\n", static_cast<long long>(leaves), static_cast<long long>(tasks),
              peak_kb());
  figures.print();
  std::printf("task_ns=%.6g\n", figures.time_s() * 1e9 / static_cast<double>(tasks));
  return workload::conclude(line.program(), line.is_checked, answer, leaves * (leaves - 1) / 2);
}
