// A histogram whose bins are divided among the localities: each locality draws keys, and posts each to where its bin is.
#include <atomic>
#include <cstdint>
#include <vector>

#include "job_program.hpp"

namespace {

// The bins of this locality: bin b is at number b % size, there b / size.
std::vector<std::atomic<std::uint64_t>> own_bins;

void count_in(std::uint64_t index) { own_bins[index].fetch_add(1, std::memory_order_relaxed); }

std::uint64_t bin_of(std::uint64_t drawer, std::uint64_t update, std::uint64_t bins) {
  return workload::mixed(drawer << 40 | update) % bins;
}

void draw(trimtab::job& job, std::uint64_t updates, std::uint64_t bins) {
  const std::uint64_t size = job.size(), own = job.here().number();
  const std::vector<trimtab::locality> all = job.localities();
  for (std::uint64_t update = 0; update < updates; ++update) {
    const std::uint64_t bin = bin_of(own, update, bins);
    if (bin % size == own)
      count_in(bin / size);
    else
      trimtab::post(all[bin % size], count_in, bin / size);
  }
  job.wait_until_quiet();
}

std::uint64_t count_wrong(trimtab::job& job, std::uint64_t updates, std::uint64_t bins) {
  std::vector<std::uint64_t> serial(bins);
  for (std::uint64_t drawer = 0; drawer < job.size(); ++drawer)
    for (std::uint64_t update = 0; update < updates; ++update) ++serial[bin_of(drawer, update, bins)];
  std::uint64_t wrong = 0;
  for (std::uint64_t bin = job.here().number(); bin < bins; bin += job.size())
    wrong += own_bins[bin / job.size()].load() != serial[bin];
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const auto updates = static_cast<std::uint64_t>(line.number("--updates", 1'000'000, 0, 1'000'000'000));
  const auto bins = static_cast<std::uint64_t>(line.number("--bins", 100'000, 1, 1'000'000'000));
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    own_bins = std::vector<std::atomic<std::uint64_t>>(bins / job.size() + 1);
    const double time_s = workload::timed(job, [&] { draw(job, updates, bins); });
    return workload::conclude(job, time_s, line.is_checked ? count_wrong(job, updates, bins) : 0);
  });
}
