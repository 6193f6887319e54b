// What one thread does with the standard library.
#include <algorithm>
#include <numeric>

#include "loops.hpp"

namespace {

void axpy(std::int64_t count, const double* x, double* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += 3 * x[i];
}

void loop(const bench::arguments& with) { bench::time_loop(with, axpy); }

void short_loops(const bench::arguments& with) {
  bench::time_short_loops(with, [](std::int64_t times, std::int64_t count, const double* x, double* y) {
    for (; times > 0; --times) {
      axpy(count, x, y);
      asm volatile("" : : "r"(y) : "memory");  // each of them is really done
    }
  });
}

void reduce(const bench::arguments& with) {
  bench::time_reduce(with, [](const std::vector<double>& x) { return std::reduce(x.begin(), x.end(), 0.0); });
}

void scan(const bench::arguments& with) {
  bench::time_scan(with, [](const std::vector<double>& x, std::vector<double>& y) {
    std::inclusive_scan(x.begin(), x.end(), y.begin());
  });
}

void sort(const bench::arguments& with) {
  bench::time_sort(with, [](std::vector<double>& x) { std::sort(x.begin(), x.end()); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::main(argc, argv,
                     {{"loop", loop}, {"short_loops", short_loops}, {"reduce", reduce}, {"scan", scan}, {"sort", sort}});
}
