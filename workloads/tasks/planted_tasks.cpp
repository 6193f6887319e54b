// Monte Carlo programs of tasks with one planted fault each: planted_tasks --fault FAULT [--severity N] [--blocks N]
// [--size POINTS]. With severity 0 the fault is taken out: the same answer, and the same work.
//
//   chain      this share of the blocks begins one after another, each when the one before it has ended, %
//   lock       this share of each block is computed with a mutex locked, %
//   spawn      one task makes all others, and computes this share of each block before it makes its task, %
//   small      each block is divided into so many tasks
//   straggler  one block of 64 is done again so many times, as after failed checks
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../points.h"
#include "command_line.hpp"
#include "trimtab/tasks.hpp"
#include "verdict.hpp"

namespace {

struct plan {
  std::int64_t severity, blocks, points;
};

// Blocks of which nobody waits for another, by tasks that make tasks.
template <class function>
void in_halves(std::int64_t begin, std::int64_t end, const function& block) {
  if (end - begin == 1) return block(begin);
  const std::int64_t middle = begin + (end - begin) / 2;
  trimtab::task_scope scope;
  scope.spawn([&] { in_halves(begin, middle, block); });
  in_halves(middle, end, block);
  scope.wait();
}

// A block whose points are drawn in two parts.
struct drawn {
  std::uint64_t state;
  std::int64_t hits;
};

drawn begun(std::int64_t block, std::int64_t points) {
  drawn result{seed_of_block(block), 0};
  result.hits = draw_points(&result.state, points);
  return result;
}

std::int64_t chain(const plan& planted) {
  const std::int64_t chained = planted.blocks * planted.severity / 100;
  std::atomic<std::int64_t> others{0};
  trimtab::task_scope scope;
  if (chained < planted.blocks)
    scope.spawn([&] {
      in_halves(chained, planted.blocks, [&](std::int64_t block) { others += hits_of_block(block, planted.points); });
    });
  trimtab::future<std::int64_t> last = trimtab::async([] { return std::int64_t{0}; });
  for (std::int64_t block = 0; block < chained; ++block)
    last = last.then([block, &planted](trimtab::future<std::int64_t> before) {
      return before.get() + hits_of_block(block, planted.points);
    });
  const std::int64_t hits = last.get();
  scope.wait();
  return hits + others;
}

std::int64_t lock(const plan& planted) {
  const std::int64_t locked = planted.points * planted.severity / 100;
  trimtab::mutex mutex;
  std::int64_t hits = 0;
  in_halves(0, planted.blocks, [&](std::int64_t block) {
    drawn own = begun(block, planted.points - locked);
    mutex.lock();
    hits += own.hits + draw_points(&own.state, locked);
    mutex.unlock();
  });
  return hits;
}

std::int64_t spawn(const plan& planted) {
  const std::int64_t ahead = planted.points * planted.severity / 100;
  std::atomic<std::int64_t> hits{0};
  const auto finish = [&](drawn own) { hits += own.hits + draw_points(&own.state, planted.points - ahead); };
  if (ahead == 0) {
    in_halves(0, planted.blocks, [&](std::int64_t block) { finish(begun(block, 0)); });
    return hits;
  }
  trimtab::task_scope scope;
  for (std::int64_t block = 0; block < planted.blocks; ++block)
    scope.spawn([own = begun(block, ahead), &finish] { finish(own); });
  scope.wait();
  return hits;
}

// The seed of each part is that of a block of its own, of which the first has the points that are left over.
std::int64_t small(const plan& planted) {
  constexpr std::int64_t parts_of_block = 2048;
  const std::int64_t points = std::max<std::int64_t>(planted.points / parts_of_block, 1);
  const std::int64_t tasks = std::clamp<std::int64_t>(planted.severity, 1, parts_of_block);
  std::atomic<std::int64_t> hits{0};
  in_halves(0, planted.blocks, [&](std::int64_t block) {
    // Of each task: nothing is shared, so that only the number of tasks differs.
    std::vector<std::int64_t> own(static_cast<std::size_t>(tasks));
    trimtab::task_scope scope;
    for (std::int64_t task = 0; task < tasks; ++task)
      scope.spawn([=, &own] {
        std::int64_t sum = 0;
        for (std::int64_t part = task * parts_of_block / tasks; part < (task + 1) * parts_of_block / tasks; ++part)
          sum += hits_of_block(block * parts_of_block + part, points);
        own[static_cast<std::size_t>(task)] = sum;
      });
    scope.wait();
    hits += std::accumulate(own.begin(), own.end(), std::int64_t{0});
  });
  return hits;
}

[[gnu::noinline]] std::int64_t checked_block(std::int64_t block, const volatile std::int64_t& points, std::int64_t again) {
  const std::int64_t hits = hits_of_block(block, points);
  for (std::int64_t i = 0; i < again; ++i)
    if (hits_of_block(block, points) != hits) throw std::logic_error("a block done again has other hits");
  return hits;
}

std::int64_t straggler(const plan& planted) {
  std::atomic<std::int64_t> hits{0};
  for (std::int64_t first = 0; first < planted.blocks; first += 64) {
    trimtab::task_scope scope;
    for (std::int64_t block = first; block < std::min(first + 64, planted.blocks); ++block)
      scope.spawn(
          [=, &hits, &planted] { hits += checked_block(block, planted.points, block % 64 == 63 ? planted.severity : 0); });
    scope.wait();
  }
  return hits;
}

std::int64_t run(const std::string& fault, const plan& planted) {
  if (fault == "chain") return chain(planted);
  if (fault == "lock") return lock(planted);
  if (fault == "spawn") return spawn(planted);
  if (fault == "small") return small(planted);
  return straggler(planted);
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::string fault = line.word("--fault", {"chain", "lock", "spawn", "small", "straggler"});
  const std::int64_t usual = fault == "small" ? 2048 : fault == "straggler" ? 63 : fault == "chain" ? 100 : 80;
  const plan planted{line.number("--severity", usual, 0, 100'000), line.number("--blocks", 512),
                     line.number("--size", 100'000)};
  line.end();
  trimtab::runtime runtime(line.runtime);
  const std::int64_t answer = runtime.run([&] { return run(fault, planted); });
  std::int64_t expected = 0;
  if (line.is_checked) {
    line.runtime.workers = 1;
    expected = runtime.run([&] { return run(fault, {0, planted.blocks, planted.points}); });
  }
  return workload::conclude(line.program(), line.is_checked, answer, expected);
}
