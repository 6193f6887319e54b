// Parallel algorithms, the same for all systems: input, clock, answers. Values are whole numbers, so that sums are the same
// in whatever order they are made. Figures are in ns an element.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "bench.hpp"

namespace bench {

// So many numbers from 0 to 1008.
inline std::vector<double> numbers(std::int64_t count) {
  std::vector<double> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<double>(i * 7919 % 1009);
  return made;
}

// Tells one order of values from another.
inline double weighed(const std::vector<double>& values) {
  double all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) all += values[i] * static_cast<double>(i % 1009);
  return all;
}

// run(count, x, y): y[i] += 3 x[i].
template <class function>
void time_loop(const arguments& with, function&& run) {
  const std::vector<double> x = numbers(with.size);
  std::vector<double> y(x.size(), 0);
  const double took = seconds(with.repeats, [&] { run(with.size, x.data(), y.data()); });
  expect("loop", 3.0 * calls(with.repeats) * weighed(x), weighed(y));
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

// The same loop over 1,000 elements, `size` times: what it costs to begin and to end one.
template <class function>
void time_short_loops(const arguments& with, function&& run) {
  const std::vector<double> x = numbers(1000);
  std::vector<double> y(x.size(), 0);
  const double took =
      seconds(with.repeats, [&] { run(with.size, static_cast<std::int64_t>(x.size()), x.data(), y.data()); });
  expect("short loops", 3.0 * static_cast<double>(with.size) * calls(with.repeats) * weighed(x), weighed(y));
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

// run(x): their sum.
template <class function>
void time_reduce(const arguments& with, function&& run) {
  const std::vector<double> x = numbers(with.size);
  double expected = 0;
  for (const double each : x) expected += each;
  const double took = seconds(with.repeats, [&] { expect("reduce", expected, run(x)); });
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

// run(x, y): y[i] = x[0] + ... + x[i].
template <class function>
void time_scan(const arguments& with, function&& run) {
  const std::vector<double> x = numbers(with.size);
  std::vector<double> y(x.size()), expected(x.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] = sum += x[i];
  const double took = seconds(with.repeats, [&] { run(x, y); });
  expect("scan", weighed(expected), weighed(y));
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

// run(x): sorted. Of random numbers; each time new ones, whose copying is not timed.
template <class function>
void time_sort(const arguments& with, function&& run) {
  std::mt19937_64 random(3);
  std::vector<double> from(static_cast<std::size_t>(with.size));
  for (double& each : from) each = static_cast<double>(random() >> 20);
  std::vector<double> expected = from, x;
  std::sort(expected.begin(), expected.end());
  std::vector<double> took;
  for (int i = 0; i < calls(with.repeats); ++i) {
    x = from;
    took.push_back(seconds(1, [&] { run(x); }));
    expect("sort", weighed(expected), weighed(x));
  }
  if (took.size() > 1) took.erase(took.begin());
  std::sort(took.begin(), took.end());
  print("ns", took[took.size() / 2] * 1e9 / static_cast<double>(with.size));
}

}  // namespace bench
