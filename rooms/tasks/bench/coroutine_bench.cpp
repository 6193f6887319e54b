// fib of coroutines: time per fork; and the memory of a million coroutines that wait at once, in a process of its own.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "trimtab/tasks.hpp"

namespace {

trimtab::task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = trimtab::fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}

void fork_join(benchmark::State& state) {
  trimtab::runtime runtime({.workers = static_cast<std::uint32_t>(state.range(0))});
  constexpr double tasks = 832'039;  // forks: inner nodes of fib(29)'s tree
  for (auto _ : state)
    if (runtime.run([] { return trimtab::spawn(fib(29)).get(); }) != 514'229) state.SkipWithError("wrong answer");
  state.counters["per_task"] =
      benchmark::Counter(tasks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(fork_join)->Arg(1)->Arg(2)->UseRealTime();

trimtab::task<> waits(trimtab::shared_future<int> input) { co_await input; }

constexpr int waiting = 1'000'000;

// Peak resident memory, KiB; 0: wrong.
long wait_all_at_once() {
  trimtab::runtime runtime({.workers = 2});
  trimtab::promise<int> source;
  const trimtab::shared_future<int> input = source.get_future();
  runtime.run([&] {
    std::vector<trimtab::future<void>> futures;
    futures.reserve(waiting);
    for (int i = 0; i < waiting; ++i) futures.push_back(trimtab::spawn(waits(input)));
    // Later than all of them: one more that nothing is waited for before.
    while (runtime.queue_length() != 0) trimtab::this_task::yield();
    source.set_value(1);
    for (auto& element : futures) element.get();
  });
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

void million_waiting(benchmark::State& state) {
  long peak = 0;
  for (auto _ : state) {
    int ends[2];
    if (pipe(ends) != 0) return state.SkipWithError("no pipe");
    const pid_t child = ::fork();
    if (child == 0) {
      const long result = wait_all_at_once();
      _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || read(ends[0], &peak, sizeof peak) != sizeof peak) state.SkipWithError("the child failed");
    close(ends[0]);
    close(ends[1]);
  }
  state.counters["peak_mb"] = static_cast<double>(peak) / 1024;
  state.counters["bytes_each"] = static_cast<double>(peak) * 1024 / waiting;
}
BENCHMARK(million_waiting)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
