// What the programs of all systems share, so that they differ in nothing but the system: arguments, clock, answers.
//   PROGRAM CASE WORKERS SIZE REPEATS: runs a case so often, after once to warm up, and prints name=value lines. With one
//   repeat there is no warm-up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace bench {

struct arguments {
  std::string what;
  int workers = 1;
  std::int64_t size = 0;
  int repeats = 1;
};

struct named_case {
  const char* name;
  void (*run)(const arguments& with);
};

// Answers are checked: what is fast and wrong is not fast.
inline void expect(const char* what, double expected, double found) {
  if (found == expected) return;
  std::fprintf(stderr, "%s: expected %.17g, found %.17g\n", what, expected, found);
  std::exit(1);
}

inline void print(const char* name, double value) { std::printf("%s=%.9g\n", name, value); }

// How often f() is called.
inline int calls(int repeats) { return repeats > 1 ? repeats + 1 : 1; }

// Median seconds of f().
template <class function>
double seconds(int repeats, function&& f) {
  if (repeats > 1) f();
  std::vector<double> took;
  for (int i = 0; i < repeats; ++i) {
    const auto began = std::chrono::steady_clock::now();
    f();
    took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

// Of this program: what getrusage tells may be of who started it.
inline double peak_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6);
  return 0;
}

inline int main(int argc, char** argv, std::initializer_list<named_case> cases) {
  if (argc == 5)
    for (const named_case& each : cases)
      if (std::string(argv[1]) == each.name) {
        each.run({argv[1], std::atoi(argv[2]), std::atoll(argv[3]), std::atoi(argv[4])});
        print("peak_kb", peak_kb());
        return 0;
      }
  std::fprintf(stderr, "usage: %s CASE WORKERS SIZE REPEATS; cases:", argv[0]);
  for (const named_case& each : cases) std::fprintf(stderr, " %s", each.name);
  std::fprintf(stderr, "\n");
  return 2;
}

// fib(n), and how many tasks it has where each call that is no leaf makes one.
inline double fib_of(std::int64_t n) {
  double now = 0, next = 1;
  for (; n > 0; --n) {
    const double sum = now + next;
    now = next;
    next = sum;
  }
  return now;
}
inline double fib_tasks(std::int64_t n) { return fib_of(n + 1) - 1; }

// The time of each task of fib(size), which run() computes.
template <class function>
void time_fib(const arguments& with, function&& run) {
  const double took = seconds(with.repeats, [&] {
    const std::int64_t answer = run(with.size);
    expect("fib", fib_of(with.size), static_cast<double>(answer));
  });
  print("ns", took * 1e9 / fib_tasks(with.size));
}

// How many tasks each thread has run, each count in a cache line of its own.
class tally {
 public:
  std::int64_t& of_thread(unsigned number) { return m_counts[number % 64 * 8]; }
  std::int64_t sum() const {
    std::int64_t all = 0;
    for (const std::int64_t each : m_counts) all += each;
    return all;
  }

 private:
  std::int64_t m_counts[64 * 8] = {};
};

// The time of each of `size` tasks that do no more than to count themselves: run(tally).
template <class function>
void time_flat(const arguments& with, function&& run) {
  tally done;
  const double took = seconds(with.repeats, [&] { run(done); });
  expect("flat", static_cast<double>(with.size) * calls(with.repeats), static_cast<double>(done.sum()));
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

// A tree of tasks with ten children each: leaves, tasks, and the sum of the leaves' numbers.
struct skynet {
  explicit skynet(std::int64_t depth) {
    for (; depth > 0; --depth) tasks += leaves *= 10;
  }
  double sum() const { return static_cast<double>(leaves) * static_cast<double>(leaves - 1) / 2; }
  std::int64_t leaves = 1, tasks = 1;
};

// The time of each task of such a tree; run(leaves) gives their sum.
template <class function>
void time_skynet(const arguments& with, function&& run) {
  const skynet tree(with.size);
  const double took = seconds(with.repeats, [&] {
    const std::int64_t answer = run(tree.leaves);
    expect("skynet", tree.sum(), static_cast<double>(answer));
  });
  print("ns", took * 1e9 / static_cast<double>(tree.tasks));
}

// The stencil of which the minimum effective task granularity is asked: `steps` times `width` tasks, each of which needs
// the step before it of its place and the neighbours, and then computes for `kernel` dependent operations.
struct stencil {
  static constexpr std::int64_t steps = 1000;
  static constexpr std::int64_t smallest = 1 << 5;

  explicit stencil(int wide) : width(wide) {
    for (auto& each : cells) each.assign(static_cast<std::size_t>(width), 1.0);
  }
  int left(int i) const { return i == 0 ? 0 : i - 1; }
  int right(int i) const { return i + 1 == width ? i : i + 1; }
  void compute(std::int64_t step, int i) {
    const std::vector<double>& from = cells[step & 1];
    const auto at = [&](int place) { return from[static_cast<std::size_t>(place)]; };
    double value = (at(left(i)) + at(i) + at(right(i))) / 3 + i;
    for (std::int64_t k = 0; k < kernel; ++k) value = value * 0.999 + 0.001;
    cells[(step + 1) & 1][static_cast<std::size_t>(i)] = value;
  }
  double sum() const {
    double all = 0;
    for (const double each : cells[steps & 1]) all += each;
    return all;
  }

  int width;
  std::int64_t kernel = 0;
  std::vector<double> cells[2];
};

// For each size of kernel, the largest first, which is the case's size: run(stencil) in seconds, as stencil_KERNEL.
template <class function>
void time_stencil(const arguments& with, function&& run) {
  for (std::int64_t kernel = with.size; kernel >= stencil::smallest; kernel /= 2) {
    stencil serial(with.workers);
    serial.kernel = kernel;
    for (std::int64_t step = 0; step < stencil::steps; ++step)
      for (int i = 0; i < serial.width; ++i) serial.compute(step, i);
    const double took = seconds(with.repeats, [&] {
      stencil of(with.workers);
      of.kernel = kernel;
      run(of);
      expect("stencil", serial.sum(), of.sum());
    });
    print(("stencil_" + std::to_string(kernel)).c_str(), took);
  }
}

// Heat in a ring of points, 50 steps, two arrays.
struct ring {
  static constexpr std::int64_t steps = 50;
  static constexpr std::size_t place(std::int64_t point) { return static_cast<std::size_t>(point); }

  explicit ring(std::int64_t count) : points(count) {
    for (auto& each : values) each.resize(place(points));
    for (std::int64_t i = 0; i < points; ++i) values[0][place(i)] = static_cast<double>(i * 7919 % 1009) * 1e-3;
  }
  // The points from `first` up to and not with `last`.
  void advance(std::int64_t step, std::int64_t first, std::int64_t last) {
    const double* const from = values[step & 1].data();
    double* const to = values[(step + 1) & 1].data();
    const auto heated = [](double left, double here, double right) { return here + 0.25 * (left - 2 * here + right); };
    if (first == 0) to[first] = heated(from[points - 1], from[0], from[1]), ++first;
    if (last == points) --last, to[last] = heated(from[last - 1], from[last], from[0]);
    for (std::int64_t i = first; i < last; ++i) to[i] = heated(from[i - 1], from[i], from[i + 1]);
  }
  double sum() const {
    double all = 0;
    for (std::int64_t i = 0; i < points; ++i) all += values[0][place(i)] * static_cast<double>(i % 1009);
    return all;
  }
  // Of the serial answer.
  static double expected(std::int64_t points) {
    ring serial(points);
    for (std::int64_t step = 0; step < steps; ++step) serial.advance(step, 0, points);
    return serial.sum();
  }

  std::int64_t points;
  std::vector<double> values[2];
};

}  // namespace bench
