// fib through invoke: time per forked task, counters on, answer checked.
#include <benchmark/benchmark.h>

#include "trimtab/tasks.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  trimtab::invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

void fork_join(benchmark::State& state) {
  trimtab::runtime runtime({static_cast<std::uint32_t>(state.range(0))});
  constexpr double tasks = 832'039;  // inner nodes of fib(29)'s tree
  for (auto _ : state)
    if (runtime.run([] { return fib(29); }) != 514'229) state.SkipWithError("wrong answer");
  state.counters["per_task"] =
      benchmark::Counter(tasks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(fork_join)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
