// Trimtab's coroutines, by clang 19.
#include <vector>

#include "bench.hpp"
#include "trimtab/tasks.hpp"

namespace {

trimtab::task<std::int64_t> fib(std::int64_t n) {
  if (n < 2) co_return n;
  auto a = trimtab::fork(fib(n - 1));
  const std::int64_t b = co_await fib(n - 2);
  co_return co_await a + b;
}

trimtab::runtime_options with_workers(int count) { return {.workers = static_cast<std::uint32_t>(count)}; }

void coroutines(const bench::arguments& with) {
  trimtab::runtime runtime(with_workers(with.workers));
  const double took = bench::seconds(with.repeats, [&] {
    const std::int64_t answer = runtime.run([&] { return trimtab::spawn(fib(with.size)).get(); });
    bench::expect("fib", bench::fib_of(with.size), static_cast<double>(answer));
  });
  bench::print("ns", took * 1e9 / bench::fib_tasks(with.size));
}

trimtab::task<std::int64_t> waits(trimtab::shared_future<std::int64_t> gate) { co_return co_await gate; }

// So many coroutines that wait for one promise, at once.
void suspended(const bench::arguments& with) {
  trimtab::runtime runtime(with_workers(with.workers));
  std::int64_t sum = 0;
  const double took = bench::seconds(with.repeats, [&] {
    sum = runtime.run([&] {
      trimtab::promise<std::int64_t> gate;
      const auto opened = gate.get_future().share();
      std::vector<trimtab::future<std::int64_t>> waiting;
      waiting.reserve(static_cast<std::size_t>(with.size));
      for (std::int64_t i = 0; i < with.size; ++i) waiting.push_back(trimtab::spawn(waits(opened)));
      gate.set_value(1);
      std::int64_t all = 0;
      for (auto& each : waiting) all += each.get();
      return all;
    });
  });
  bench::expect("suspended", static_cast<double>(with.size), static_cast<double>(sum));
  bench::print("ns", took * 1e9 / static_cast<double>(with.size));
}

}  // namespace

int main(int argc, char** argv) { return bench::main(argc, argv, {{"coroutines", coroutines}, {"suspended", suspended}}); }
