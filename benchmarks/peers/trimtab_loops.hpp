// The parallel algorithms of Trimtab's runtime, for trimtab.cpp.
#pragma once

#include "loops.hpp"
#include "on_trimtab.hpp"

namespace algorithms {

inline void loop(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_loop(with, [&](std::int64_t count, const double* x, double* y) {
    runtime.run([&] { trimtab::for_loop(std::int64_t{0}, count, [=](std::int64_t i) { y[i] += 3 * x[i]; }); });
  });
}

inline void short_loops(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_short_loops(with, [&](std::int64_t times, std::int64_t count, const double* x, double* y) {
    runtime.run([&] {
      for (; times > 0; --times) trimtab::for_loop(std::int64_t{0}, count, [=](std::int64_t i) { y[i] += 3 * x[i]; });
    });
  });
}

inline void reduce(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_reduce(with, [&](const std::vector<double>& x) {
    return runtime.run([&] { return trimtab::reduce(x.begin(), x.end(), 0.0); });
  });
}

inline void scan(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_scan(with, [&](const std::vector<double>& x, std::vector<double>& y) {
    runtime.run([&] { trimtab::inclusive_scan(x.begin(), x.end(), y.begin()); });
  });
}

inline void sort(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_sort(with, [&](std::vector<double>& x) { runtime.run([&] { trimtab::sort(x.begin(), x.end()); }); });
}

}  // namespace algorithms
