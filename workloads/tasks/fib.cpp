// Fibonacci numbers the slow way: the smallest tasks there are. --by invoke | futures | coroutines
#include <cstdint>
#include <utility>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

std::int64_t serial(std::int64_t n) {
  std::int64_t current = 0, next = 1;
  for (; n > 0; --n) current = std::exchange(next, current + next);
  return current;
}

std::int64_t by_invoke(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  trimtab::invoke([&] { a = by_invoke(n - 1); }, [&] { b = by_invoke(n - 2); });
  return a + b;
}

std::int64_t by_futures(std::int64_t n) {
  if (n < 2) return n;
  auto a = trimtab::async(by_futures, n - 1);
  const std::int64_t b = by_futures(n - 2);
  return a.get() + b;
}

trimtab::task<std::int64_t> by_coroutines(std::int64_t n) {
  if (n < 2) co_return n;
  auto a = trimtab::fork(by_coroutines(n - 1));
  const std::int64_t b = co_await by_coroutines(n - 2);
  co_return co_await a + b;
}

std::int64_t fib(std::int64_t n, const std::string& scheme) {
  if (scheme == "futures") return by_futures(n);
  return scheme == "invoke" ? by_invoke(n) : trimtab::spawn(by_coroutines(n)).get();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t n = line.number("--n", 30, 0, 60);
  const std::string scheme = line.word("--by", {"invoke", "futures", "coroutines"});
  line.end();

  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t answer = runtime.run([&] { return fib(n, scheme); });
  figures.stop();

  // Each call that is not a leaf makes one task: fib(n + 1) - 1.
  const std::int64_t tasks = serial(n + 1) - 1;
  std::printf("n=%lld\nby=%s\ntasks=%lld\n", static_cast<long long>(n), scheme.c_str(), static_cast<long long>(tasks));
  figures.print();
  if (tasks > 0) std::printf("task_ns=%.6g\n", figures.time_s() * 1e9 / static_cast<double>(tasks));
  return workload::conclude(line.program(), line.is_checked, answer, serial(n));
}
