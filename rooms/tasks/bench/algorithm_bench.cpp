// Loops, reductions and sorts on one and two workers, beside what one thread does without a runtime; answers checked.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "trimtab/tasks/algorithms/algorithm.hpp"

namespace {

using trimtab::tasks::chunking;

constexpr std::size_t points = 10'000'000;

void axpy(std::size_t count, double a, const double* x, double* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

void axpy_serial(benchmark::State& state) {
  std::vector<double> x(points, 1), y(points, 0);
  for (auto _ : state) {
    axpy(points, 1, x.data(), y.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(axpy_serial)->UseRealTime()->Unit(benchmark::kMillisecond);

// Arguments: workers, and 0 adaptive, 1 static.
chunking chunks_of(const benchmark::State& state) {
  return state.range(1) == 0 ? chunking(trimtab::tasks::adaptive_chunks{}) : chunking(trimtab::tasks::static_chunks{});
}

void axpy_loop(benchmark::State& state) {
  trimtab::tasks::runtime runtime({.workers = static_cast<std::uint32_t>(state.range(0))});
  std::vector<double> x(points, 1), y(points, 0);
  const double* const source = x.data();
  double* const target = y.data();
  for (auto _ : state)
    runtime.run([&] {
      trimtab::tasks::for_loop(chunks_of(state), std::size_t{0}, points,
                               [=](std::size_t i) { target[i] += 1.0 * source[i]; });
    });
  if (std::any_of(y.begin(), y.end(), [&](double element) { return element != static_cast<double>(state.iterations()); }))
    state.SkipWithError("wrong answer");
}
BENCHMARK(axpy_loop)->ArgsProduct({{1, 2}, {0, 1}})->UseRealTime()->Unit(benchmark::kMillisecond);

// 100 iterations of some 5 ns: what it costs not to be cut.
void small(benchmark::State& state) {
  const auto loops = [&](auto&& loop) {
    std::vector<double> values(100, 2);
    double* const target = values.data();
    for (auto _ : state) {
      loop([target](int i) { target[i] = std::sqrt(target[i] + 1) / 1.1; });
      benchmark::ClobberMemory();
    }
  };
  if (state.range(0) == 0)
    return loops([](auto&& f) {
      for (int i = 0; i < 100; ++i) f(i);
    });
  trimtab::tasks::runtime runtime({.workers = static_cast<std::uint32_t>(state.range(0))});
  runtime.run([&] { loops([](auto&& f) { trimtab::tasks::for_loop(0, 100, f); }); });
}
BENCHMARK(small)->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

void reduce(benchmark::State& state) {
  std::vector<double> x(points, 1);
  if (state.range(0) == 0) {
    for (auto _ : state)
      if (std::reduce(x.begin(), x.end(), 0.0) != points) state.SkipWithError("wrong answer");
    return;
  }
  trimtab::tasks::runtime runtime({.workers = static_cast<std::uint32_t>(state.range(0))});
  for (auto _ : state)
    if (runtime.run([&] { return trimtab::tasks::reduce(x.begin(), x.end(), 0.0); }) != points)
      state.SkipWithError("wrong answer");
}
BENCHMARK(reduce)->Arg(0)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void sort(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<double> values(2'000'000), work;
  for (double& element : values) element = static_cast<double>(random());
  trimtab::tasks::runtime runtime({.workers = static_cast<std::uint32_t>(std::max<std::int64_t>(1, state.range(0)))});
  for (auto _ : state) {
    state.PauseTiming();
    work = values;
    state.ResumeTiming();
    if (state.range(0) == 0)
      std::sort(work.begin(), work.end());
    else
      runtime.run([&] { trimtab::tasks::sort(work.begin(), work.end()); });
  }
  if (!std::is_sorted(work.begin(), work.end())) state.SkipWithError("wrong answer");
}
BENCHMARK(sort)->Arg(0)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
