// The examples of docs/guide/tasks.md, which repeats what lies between the marks.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <trimtab/runtime/options.hpp>
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

// [stop]
trimtab::task<int> search(int from) {
  int looked_at = 0;
  while (!trimtab::this_task::stop_token().stop_requested()) {
    ++looked_at;
    co_await trimtab::after(std::chrono::microseconds(50));
  }
  co_return from + (looked_at > 0 ? 1 : 0);
}

int stopped_search() {
  std::stop_source source;
  trimtab::future<int> found = trimtab::spawn(source.get_token(), search(10));
  trimtab::this_task::sleep_for(std::chrono::milliseconds(100));
  source.request_stop();
  return found.get();
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

// [stopped-waits]
trimtab::task<int> patient(trimtab::channel<int>& from, std::stop_token stop) {
  int sum = 0;
  for (;;) {
    const std::optional<int> got = co_await from.receive_async(stop);
    if (!got) co_return sum;
    sum += *got;
  }
}

int until_stopped() {
  trimtab::channel<int> line(2);
  std::stop_source source;
  trimtab::future<int> sum = trimtab::spawn(patient(line, source.get_token()));
  line.send(1);
  line.send(2);
  source.request_stop();  // what is in the channel is had even then
  return sum.get();
}
// [end]

// [named]
static const trimtab::annotation assembly("assembly of the matrix");

trimtab::future<void> assemble() {
  return trimtab::async({.level = trimtab::priority::high, .name = &assembly}, [] { /* ... */ });
}
// [end]

// [loops]
void smooth(std::vector<double>& to, const std::vector<double>& from) {
  trimtab::for_loop(std::size_t{1}, from.size() - 1,
                    [&](std::size_t i) { to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3; });
}

double energy(const std::vector<double>& values) {
  return trimtab::transform_reduce(values.begin(), values.end(), 0.0, std::plus<>(), [](double v) { return v * v; });
}
// [end]

// [chunks]
static const trimtab::annotation solve("solve the cells");

std::vector<long> offsets(const std::vector<long>& sizes) {
  std::vector<long> made(sizes.size());
  trimtab::exclusive_scan(sizes.begin(), sizes.end(), made.begin(), 0L);
  return made;
}

double same_each_time(const std::vector<double>& values) {
  return trimtab::reduce(trimtab::ordered_chunks{}, values.begin(), values.end(), 0.0);
}

void solve_cells(std::vector<double>& cells, std::stop_token stop) {
  trimtab::for_each({.chunks = trimtab::dynamic_chunks{16}, .stop = stop, .name = &solve}, cells.begin(), cells.end(),
                    [](double& cell) { cell = std::sqrt(cell); });
}
// [end]

// [graph]
double sum_of_squares() {
  trimtab::graph g;
  const trimtab::block<double> a = g.make_block<double>(100, "a"), b = g.make_block<double>(100, "b");
  const auto fill = g.task(
      "fill",
      [](std::span<double> to) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<double>(i);
      },
      trimtab::exclusive_write(a));
  const auto square = g.task(
      "square",
      [](std::span<const double> from, std::span<double> to) {
        for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * from[i];
      },
      trimtab::read_only(a), trimtab::exclusive_write(b), trimtab::after(fill));
  double sum = 0;
  g.task(
      "sum",
      [&](std::span<const double> of) {
        for (const double each : of) sum += each;
      },
      trimtab::read_only(b), trimtab::after(square));
  g.wait();
  return sum;
}
// [end]

// [growing]
trimtab::output<long> count(trimtab::graph& g, long depth) {
  if (depth == 0)
    return g.task([&g] {
      trimtab::block<long> one = g.make_block<long>(1);
      one.values()[0] = 1;
      return one;  // the task's output brings this block
    });
  const trimtab::event<long> sum = g.make_event<long>("sum");
  g.task([&g, depth, sum] {  // makes tasks while the graph runs
    g.task(
        [&g, sum](std::span<const long> left, std::span<const long> right) {
          trimtab::block<long> both = g.make_block<long>(1);
          both.values()[0] = left[0] + right[0];
          sum.satisfy(both);
        },
        trimtab::read_only(count(g, depth - 1)), trimtab::read_only(count(g, depth - 1)));
  });
  return sum;
}

long leaves(long depth) {
  trimtab::graph g;
  const trimtab::output<long> all = count(g, depth);
  g.wait();
  return all.result().values()[0];
}
// [end]

// [unsatisfied]
std::string what_is_missing() {
  trimtab::graph g;
  const trimtab::event<> input = g.make_event("input");
  g.task("waits", [] {}, trimtab::after(input));
  std::string told;
  try {
    g.wait();
  } catch (const trimtab::graph_error& error) {
    told = error.what();  // ... task 2 (waits): slot 0 waits for event 1 (input) ...
  }
  input.satisfy();
  g.wait();  // the graph goes on
  return told;
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
  std::printf("stopped %d\n", stopped_search());
  std::printf("until stopped %d\n", until_stopped());
  std::vector<double> values(1000, 2), smoothed(1000, 2);
  smooth(smoothed, values);
  std::printf("energy %.0f\n", energy(smoothed));
  std::printf("offset %ld\n", offsets({3, 4, 5}).back());
  solve_cells(values, {});
  trimtab::sort(trimtab::static_chunks{}, values.begin(), values.end(), std::greater<>());
  std::printf("sum %.3f\n", same_each_time(values));
  std::printf("squares %.0f\n", sum_of_squares());
  std::printf("leaves %ld\n", leaves(6));
  if (what_is_missing().find("(waits): slot 0 waits for event ") == std::string::npos) return 1;
  // [counters]
  const trimtab::snapshot before(rt);
  rt.run([] { fib(15); });
  for (const trimtab::runtime_counter& each : trimtab::find_counters(rt, "/threads/count/cumulative"))
    std::printf("%s %.0f\n", each.path().c_str(), each.value(trimtab::snapshot(rt), before));
  // [end]
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
