// fib through async and get: time per task; and a flat set of empty tasks from one producer.
#include <benchmark/benchmark.h>

#include "trimtab/tasks.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto a = trimtab::async([n] { return fib(n - 1); });
  const long b = fib(n - 2);
  return a.get() + b;
}

const auto per_task = [](double tasks) {
  return benchmark::Counter(tasks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
};

void futures(benchmark::State& state) {
  trimtab::runtime runtime(
      {.workers = static_cast<std::uint32_t>(state.range(0)), .policy = static_cast<trimtab::policy>(state.range(1))});
  for (auto _ : state)
    if (runtime.run([] { return fib(27); }) != 196'418) state.SkipWithError("wrong answer");
  state.counters["per_task"] = per_task(317'810);  // inner nodes of fib(27)'s tree
  state.SetLabel(trimtab::tasks::name_of(runtime.policy()));
}
BENCHMARK(futures)->ArgsProduct({{1, 2}, {1, 2}})->UseRealTime();

void flat(benchmark::State& state) {
  trimtab::runtime runtime(
      {.workers = static_cast<std::uint32_t>(state.range(0)), .policy = static_cast<trimtab::policy>(state.range(1))});
  constexpr int tasks = 1'000'000;
  for (auto _ : state)
    runtime.run([] {
      trimtab::task_scope scope;
      for (int i = 0; i < tasks; ++i) scope.spawn([] {});
      scope.wait();
    });
  state.counters["per_task"] = per_task(tasks);
  state.SetLabel(trimtab::tasks::name_of(runtime.policy()));
}
BENCHMARK(flat)->ArgsProduct({{1, 2}, {1, 2}})->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
