// Trimtab's task runtime, its counters on as they always are.
#include "on_trimtab.hpp"
#include "trimtab_loops.hpp"

namespace {

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  trimtab::invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

std::int64_t fib_of_futures(std::int64_t n) {
  if (n < 2) return n;
  auto a = trimtab::async([n] { return fib_of_futures(n - 1); });
  const std::int64_t b = fib_of_futures(n - 2);
  return a.get() + b;
}

template <std::int64_t (*fib)(std::int64_t)>
void fork_join(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_fib(with, [&](std::int64_t n) { return runtime.run([&] { return fib(n); }); });
}

void flat(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_flat(with, [&](bench::tally& done) {
    runtime.run([&] {
      trimtab::task_scope scope;
      for (std::int64_t i = 0; i < with.size; ++i)
        scope.spawn([&] { done.of_thread(trimtab::tasks::worker::current()->number()) += 1; });
      scope.wait();
    });
  });
}

std::int64_t skynet(std::int64_t first, std::int64_t leaves) {
  if (leaves == 1) return first;
  std::int64_t sums[10];
  trimtab::task_scope scope;
  for (int i = 0; i < 10; ++i)
    scope.spawn([&sums, first, leaves, i] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
  scope.wait();
  std::int64_t all = 0;
  for (const std::int64_t each : sums) all += each;
  return all;
}

// Ten futures at each level, awaited in the order in which they were made or in the reverse one.
template <bool oldest_first>
std::int64_t awaited(std::int64_t first, std::int64_t leaves) {
  if (leaves == 1) return first;
  trimtab::future<std::int64_t> parts[10];
  for (int i = 0; i < 10; ++i)
    parts[i] = trimtab::async([=] { return awaited<oldest_first>(first + i * (leaves / 10), leaves / 10); });
  std::int64_t all = 0;
  for (int i = 0; i < 10; ++i) all += parts[oldest_first ? i : 9 - i].get();
  return all;
}

template <bool oldest_first>
void await_case(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_skynet(
      with, [&](std::int64_t leaves) { return runtime.run([&] { return awaited<oldest_first>(0, leaves); }); });
}

void skynet_case(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_skynet(with, [&](std::int64_t leaves) { return runtime.run([&] { return skynet(0, leaves); }); });
}

using made = trimtab::shared_future<void>;

// A task for each place and step, which comes when it and its neighbours have made the step before. f(step, place)
template <class function>
void run_steps(std::int64_t steps, int places, std::int64_t ahead, bool is_ring, function&& f) {
  const std::size_t count = static_cast<std::size_t>(places);
  std::vector<made> now(count), next(count), last_of_step(static_cast<std::size_t>(ahead));
  for (made& each : now) each = trimtab::make_ready_future();
  for (std::int64_t step = 0; step < steps; ++step) {
    made& known = last_of_step[static_cast<std::size_t>(step % ahead)];
    if (known.valid()) known.wait();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t left = i > 0 ? i - 1 : is_ring ? count - 1 : i;
      const std::size_t right = i + 1 < count ? i + 1 : is_ring ? 0 : i;
      next[i] = trimtab::dataflow([&f, step, i](const made&, const made&, const made&) { f(step, static_cast<int>(i)); },
                                  now[left], now[i], now[right]);
    }
    known = next.back();
    std::swap(now, next);
  }
  for (const made& each : now) each.get();
}

void stencil(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_stencil(with, [&](bench::stencil& of) {
    runtime.run(
        [&] { run_steps(of.steps, of.width, of.steps, false, [&](std::int64_t step, int i) { of.compute(step, i); }); });
  });
}

// The best of several grains is looked for first, and only that is timed.
void ring(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  double answer = 0;
  {
    bench::ring here(with.size);
    const auto run = [&](std::int64_t grain) {
      const int places = static_cast<int>((here.points + grain - 1) / grain);
      runtime.run([&] {
        run_steps(here.steps, places, here.steps, true,
                  [&](std::int64_t step, int i) { here.advance(step, i * grain, std::min(here.points, (i + 1) * grain)); });
      });
    };
    std::int64_t best_grain = 50'000;
    run(best_grain);
    answer = here.sum();
    double best = 1e9;
    for (const std::int64_t grain : {10'000, 50'000, 200'000}) {
      const double took = bench::seconds(1, [&] { run(grain); });
      if (took < best) best = took, best_grain = grain;
    }
    bench::print("grain", static_cast<double>(best_grain));
    bench::print("s", bench::seconds(with.repeats, [&] { run(best_grain); }));
  }
  bench::expect("ring", bench::ring::expected(with.size), answer);
}

void suspended(const bench::arguments& with) {
  bench::time_suspended(
      with, [](const bench::gate& opened) { return opened.then([](const bench::gate& value) { return value.get(); }); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::main(argc, argv,
                     {{"fork_join", fork_join<fib>},
                      {"futures", fork_join<fib_of_futures>},
                      {"flat", flat},
                      {"skynet", skynet_case},
                      {"await_oldest", await_case<true>},
                      {"await_newest", await_case<false>},
                      {"await_oldest_memory", await_case<true>},
                      {"await_newest_memory", await_case<false>},
                      {"stencil", stencil},
                      {"ring", ring},
                      {"suspended", suspended},
                      {"loop", algorithms::loop},
                      {"short_loops", algorithms::short_loops},
                      {"reduce", algorithms::reduce},
                      {"scan", algorithms::scan},
                      {"sort", algorithms::sort}});
}
