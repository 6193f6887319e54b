// A histogram whose bins are divided among the localities: each locality draws keys, and posts each to where its bin is.
#include <atomic>
#include <cstdint>
#include <vector>

#include "histogram_keys.hpp"
#include "job_program.hpp"

namespace {

// The bins of this locality: bin b is at number b % size, there b / size.
std::vector<std::atomic<std::uint64_t>> own_bins;

void count_in(std::uint64_t index) { own_bins[index].fetch_add(1, std::memory_order_relaxed); }

void draw(trimtab::job& job, std::uint64_t updates, std::uint64_t bins) {
  const std::uint64_t size = job.size(), own = job.here().number();
  const std::vector<trimtab::locality> all = job.localities();
  for (std::uint64_t update = 0; update < updates; ++update) {
    const std::uint64_t bin = workload::histogram::bin_of(own, update, bins);
    if (bin % size == own)
      count_in(bin / size);
    else
      trimtab::post(all[bin % size], count_in, bin / size);
  }
  job.wait_until_quiet();
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
    std::uint64_t wrong = 0;
    if (line.is_checked)
      wrong = workload::histogram::count_wrong({job.here().number(), job.size()}, updates, bins,
                                               [](std::uint64_t index) { return own_bins[index].load(); });
    return workload::conclude(job, time_s, wrong);
  });
}
