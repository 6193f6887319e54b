// The examples of docs/tasks.md, which repeats what lies between the marks.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <trimtab/session/runtime_options.hpp>
#include <trimtab/tasks.hpp>
#include <vector>

// [fork-join]
long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  trimtab::invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
// [end]

// [scope]
double norm(const std::vector<std::vector<double>>& rows) {
  std::vector<double> sums(rows.size());
  trimtab::task_scope scope;
  for (std::size_t i = 0; i < rows.size(); ++i)
    scope.spawn([&, i] {
      for (const double each : rows[i]) sums[i] += each * each;
    });
  scope.wait();  // throws what a member threw
  double all = 0;
  for (const double each : sums) all += each;
  return std::sqrt(all);
}
// [end]

// [futures]
int composed() {
  trimtab::future<int> left = trimtab::async([] { return 20; });
  trimtab::future<int> right = trimtab::async([](int x) { return 2 * x; }, 10);
  trimtab::future<int> sum =
      trimtab::dataflow(trimtab::unwrapping([](int a, int b) { return a + b; }), std::move(left), std::move(right));
  return sum.then([](trimtab::future<int> of) { return of.get() + 2; }).get();
}
// [end]

// [coroutines]
trimtab::task<long> fib_of_coroutines(int n) {
  if (n < 2) co_return n;
  auto a = trimtab::fork(fib_of_coroutines(n - 1));  // may begin anywhere
  const long b = co_await fib_of_coroutines(n - 2);  // a call
  const long of_fork = co_await a;
  co_return of_fork + b;
}

trimtab::task<int> answer(trimtab::shared_future<int> given, trimtab::mutex& lock) {
  co_await lock.lock_async();
  const int doubled = 2 * co_await given;
  lock.unlock();
  co_await trimtab::after(std::chrono::milliseconds(1));
  co_return doubled;
}
// [end]

// [waiting]
long passed() {
  trimtab::channel<int> line(16);
  trimtab::future<void> producer = trimtab::async([&] {
    for (int i = 1; i <= 100; ++i) line.send(i);
    line.close();
  });
  long sum = 0;
  for (const int each : line) sum += each;
  producer.get();
  return sum;
}
// [end]

// [named]
static const trimtab::annotation assembly("assembly of the matrix");

trimtab::future<void> assemble() {
  return trimtab::async({.level = trimtab::priority::high, .what = &assembly}, [] { /* ... */ });
}
// [end]

// [main]
int main(int argc, char** argv) try {
  trimtab::runtime rt(trimtab::options_from(argc, argv));
  const long result = rt.run([] { return fib(20); });
  std::printf("fib %ld\n", result);
  // [end]
  std::printf("norm %.0f\n", rt.run([] { return norm({{3, 0}, {0, 4}}); }));
  std::printf("composed %d\n", rt.run(composed));
  std::printf("coroutines %ld\n", rt.run([] { return trimtab::spawn(fib_of_coroutines(15)).get(); }));
  trimtab::mutex lock;
  std::printf("answer %d\n", trimtab::spawn(answer(trimtab::make_ready_future(21), lock)).get());
  std::printf("passed %ld\n", rt.run(passed));
  assemble().get();
  // [counters]
  const trimtab::snapshot before(rt);
  rt.run([] { fib(15); });
  for (const trimtab::counter& each : trimtab::find_counters(rt, "/threads/count/cumulative"))
    std::printf("%s %.0f\n", each.path().c_str(), each.value(trimtab::snapshot(rt), before));
  // [end]
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
