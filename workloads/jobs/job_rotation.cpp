// Rotation, after parquet (a program of many-body physics), whose rotation phase sends 8 * Nc * Nc parcels of Nc elements:
// each locality holds a tensor of 8 * Nc * Nc rows. In each iteration it computes on its rows, and then gives each row to
// the next locality, which puts it at another place.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "phase_figures.hpp"

namespace {

using element = std::complex<double>;
using row = std::vector<element>;

// By parity of the iteration: the rows that this locality computes on, and those that come meanwhile.
std::vector<row> rows[2];

void take(std::uint32_t parity, std::uint32_t place, const row& content) { rows[parity][place] = content; }

element first_value(std::uint64_t locality, std::uint64_t place, std::uint64_t column) {
  return {static_cast<double>(workload::mixed(locality << 40 | place << 16 | column) >> 40), 1};
}
void compute(row& content) {
  for (element& one : content) one = one * element(0, 1) + 1.0;
}
// Where row `place` goes: all rows to all places, since 5 has no divisor in common with 8 * Nc * Nc unless Nc is a multiple
// of 5.
std::uint32_t next_place(std::uint32_t place, std::uint32_t count) { return (5u * place + 3u) % count; }

void rotate(trimtab::job& job, std::uint32_t parity) {
  const trimtab::locality next = job.at((job.here().number() + 1) % job.size());
  const auto count = static_cast<std::uint32_t>(rows[parity].size());
  for (row& content : rows[parity]) compute(content);
  job.barrier();
  for (std::uint32_t place = 0; place < count; ++place)
    trimtab::post(next, take, 1 - parity, next_place(place, count), rows[parity][place]);
  job.wait_until_quiet();
}

// The rows that began on another locality came through as many steps.
std::uint64_t count_wrong(trimtab::job& job, std::uint64_t iterations) {
  const auto& found = rows[iterations % 2];
  const auto count = static_cast<std::uint32_t>(found.size());
  const std::uint64_t begun = (job.here().number() + job.size() - iterations % job.size()) % job.size();
  std::uint64_t wrong = 0;
  for (std::uint32_t first = 0; first < count; ++first) {
    std::uint32_t place = first;
    row expected(found[0].size());
    for (std::size_t column = 0; column < expected.size(); ++column) expected[column] = first_value(begun, first, column);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      compute(expected);
      place = next_place(place, count);
    }
    wrong += found[place] != expected;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const auto size = static_cast<std::uint64_t>(line.number("--size", 24, 1, 2000));
  const std::int64_t iterations = line.number("--iterations", 4, 1, 1000);
  const workload::phase_settings settings(line);
  if (size % 5 == 0) line.fail("--size", "a number that is no multiple of 5", std::to_string(size));
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    for (auto& each : rows) each.assign(8 * size * size, row(size));
    for (std::uint64_t place = 0; place < rows[0].size(); ++place)
      for (std::uint64_t column = 0; column < size; ++column)
        rows[0][place][column] = first_value(job.here().number(), place, column);
    const double time_s = workload::run_phases(job, iterations, [&](std::int64_t iteration) {
      job.set_coalescing(settings.of(iteration));
      rotate(job, static_cast<std::uint32_t>(iteration % 2));
    });
    return workload::conclude(job, time_s, line.is_checked ? count_wrong(job, static_cast<std::uint64_t>(iterations)) : 0);
  });
}
