// A graph of tasks that sleep instead of computing, so that it runs on any machine as on one with a CPU for each worker: in
// each step some parts, and a reduction of all of them that the next step waits for. Shows idle regions and their verdicts.
// With --updates, as the update of x in conjugate gradients: tasks that nobody waits for, ready before the parts.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "command_line.hpp"

namespace {

struct shape {
  std::int64_t steps, parts, part_ms, reduction_ms, long_part_ms, updates;
};

// One part of each step takes longer where long_part_ms is not 0.
std::int64_t run(const shape& wanted) {
  using std::chrono::milliseconds;
  std::atomic<std::int64_t> ran{0};
  const auto sleeps = [&ran](std::int64_t ms) {
    return [&ran, ms] {
      std::this_thread::sleep_for(milliseconds(ms));
      ran.fetch_add(1, std::memory_order_relaxed);
    };
  };
  trimtab::graph graph;
  trimtab::event<> next = graph.make_event("begin");
  next.satisfy();
  for (std::int64_t step = 0; step <= wanted.steps; ++step) {
    if (step < wanted.steps)
      for (std::int64_t update = 0; update < wanted.updates; ++update)
        graph.task("update", sleeps(wanted.part_ms), trimtab::after(next));
    const trimtab::event<> all = graph.make_latch(wanted.parts, "all parts");
    for (std::int64_t part = 0; part < wanted.parts; ++part) {
      const bool is_long = part == 0 && wanted.long_part_ms > 0 && step < wanted.steps;
      const auto sleep = sleeps(is_long ? wanted.long_part_ms : wanted.part_ms);
      graph.task(
          "part",
          [sleep, all] {
            sleep();
            all.satisfy();
          },
          trimtab::after(next));
    }
    if (step == wanted.steps) break;
    const trimtab::event<> reduced = graph.make_event("reduced");
    const auto sleep = sleeps(wanted.reduction_ms);
    graph.task(
        "reduction",
        [sleep, reduced] {
          sleep();
          reduced.satisfy();
        },
        trimtab::after(all));
    next = reduced;
  }
  graph.wait();
  return ran.load();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const shape wanted{line.number("--steps", 12, 1, 10'000),       line.number("--parts", 8, 1, 10'000),
                     line.number("--part-ms", 10, 0, 10'000),     line.number("--reduction-ms", 6, 0, 10'000),
                     line.number("--long-part-ms", 0, 0, 10'000), line.number("--updates", 0, 0, 10'000)};
  line.end();
  trimtab::runtime runtime(line.runtime);
  const std::int64_t ran = runtime.run([&] { return run(wanted); });
  std::printf("ran=%lld\n", static_cast<long long>(ran));
  return ran == (wanted.steps + 1) * wanted.parts + wanted.steps * (wanted.updates + 1) ? 0 : 1;
}
