// Conjugate gradients for the equation of Poisson on a square: a product with a sparse matrix, three sums of vectors and two
// reductions in each step, with all workers waiting for the result of each reduction.
#include <cmath>
#include <cstdint>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

using vector = std::vector<double>;

// f(first row, last row), whose results are added up in the order of the rows, so that the sum does not depend on who ran
// what.
enum class execution { serial, parallel };
template <execution how>
struct rows {
  std::int64_t count, grain;
  template <class function>
  double operator()(function&& f) const {
    return part(0, count, f);
  }
  template <class function>
  double part(std::int64_t first, std::int64_t last, function& f) const {
    if (last - first <= grain) return f(first, last);
    const std::int64_t middle = first + (last - first) / 2;
    double denominator = 0, numerator = 0;
    const auto lower = [&] { denominator = part(first, middle, f); };
    const auto upper = [&] { numerator = part(middle, last, f); };
    if constexpr (how == execution::parallel) {
      trimtab::invoke(lower, upper);
    } else {
      lower();
      upper();
    }
    return denominator + numerator;
  }
};

// The solution after so many steps, and the squared norm of what is left.
template <execution how>
double solve(const rows<how>& each_row, std::int64_t size, std::int64_t steps, vector& x) {
  const std::size_t n = static_cast<std::size_t>(size * size);
  vector r(n), p(n), q(n);
  x.assign(n, 0);
  const auto range = [size](std::int64_t first, std::int64_t last, auto&& f) {
    double sum = 0;
    for (std::int64_t i = first * size; i < last * size; ++i) sum += f(static_cast<std::size_t>(i));
    return sum;
  };
  double rr = each_row([&](std::int64_t first, std::int64_t last) {
    return range(first, last, [&](std::size_t i) {
      r[i] = p[i] = static_cast<double>(i * 7919 % 101) / 101;
      return r[i] * r[i];
    });
  });
  for (std::int64_t step = 0; step < steps && rr > 1e-20; ++step) {
    const double pq = each_row([&](std::int64_t first, std::int64_t last) {
      double sum = 0;
      for (std::int64_t row = first; row < last; ++row)
        for (std::int64_t column = 0; column < size; ++column) {
          const std::size_t i = static_cast<std::size_t>(row * size + column), wide = static_cast<std::size_t>(size);
          q[i] = 4 * p[i] - (column > 0 ? p[i - 1] : 0) - (column + 1 < size ? p[i + 1] : 0) - (row > 0 ? p[i - wide] : 0) -
                 (row + 1 < size ? p[i + wide] : 0);
          sum += p[i] * q[i];
        }
      return sum;
    });
    const double alpha = rr / pq;
    const double next = each_row([&](std::int64_t first, std::int64_t last) {
      return range(first, last, [&](std::size_t i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        return r[i] * r[i];
      });
    });
    const double beta = next / rr;
    rr = next;
    each_row([&](std::int64_t first, std::int64_t last) {
      return range(first, last, [&](std::size_t i) {
        p[i] = r[i] + beta * p[i];
        return 0.0;
      });
    });
  }
  return rr;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 512, 1, 20'000);
  const std::int64_t grain = line.number("--grain", 16, 1);
  const std::int64_t steps = line.number("--steps", 100, 0, 100'000);
  const std::int64_t measure_ms = line.number("--measure", 0, 0, 100'000);
  line.end();

  vector x;
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  double left = 0;
  const auto single_pass = [&] {
    left = runtime.run([&] { return solve(rows<execution::parallel>{size, grain}, size, steps, x); });
  };
  if (measure_ms > 0)
    workload::measured(measure_ms, single_pass);
  else
    single_pass();
  figures.stop();

  std::printf("size=%lld\ngrain=%lld\nsteps=%lld\nresidual=%.9g\n", static_cast<long long>(size),
              static_cast<long long>(grain), static_cast<long long>(steps), std::sqrt(left));
  figures.print();
  workload::difference first;
  if (line.is_checked) {
    vector serial;
    solve(rows<execution::serial>{size, grain}, size, steps, serial);
    for (std::size_t i = 0; i < x.size(); ++i) first.look(static_cast<std::int64_t>(i), x[i], serial[i]);
  }
  return workload::conclude(line.program(), line.is_checked, x.empty() ? 0 : x[x.size() / 2], first);
}
