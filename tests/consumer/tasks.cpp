// The examples of docs/tasks.md, which repeats what lies between the marks.
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
