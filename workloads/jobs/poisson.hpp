// Conjugate gradients for the equation of Poisson on a square. Needs no Trimtab: the same program in plain MPI uses it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "parts.hpp"
#include "rows.hpp"

namespace workload::poisson {

using vector = std::vector<double>;

// Some rows of the square.
class square_part {
 public:
  square_part(std::int64_t size, span_of_items rows, row_network network)
      : m_width(static_cast<std::size_t>(size)), m_rows(rows), m_network(std::move(network)), m_zeros(m_width) {}

  // The solution after so many steps.
  vector solve(std::int64_t steps) const {
    const std::size_t count = static_cast<std::size_t>(m_rows.size()) * m_width;
    vector x(count), r(count), q(count);
    for (std::size_t i = 0; i < count; ++i)
      r[i] = static_cast<double>((static_cast<std::size_t>(m_rows.first) * m_width + i) * 7919 % 101) / 101;
    vector p = r;
    double rr = sum_of_products(r, r);
    for (std::int64_t step = 0; step < steps && rr > 1e-20; ++step) {
      multiply(p, q);
      const double alpha = rr / sum_of_products(p, q);
      for (std::size_t i = 0; i < count; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
      const double next = sum_of_products(r, r);
      for (std::size_t i = 0; i < count; ++i) p[i] = r[i] + next / rr * p[i];
      rr = next;
    }
    return x;
  }

 private:
  double sum_of_products(const vector& a, const vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return m_network.sum(sum);
  }

  // q: the matrix of five points times p.
  void multiply(const vector& p, vector& q) const {
    const ghost_rows ghosts = m_network.exchange(p, m_width);
    const std::size_t rows = p.size() / m_width;
    for (std::size_t row = 0; row < rows; ++row) {
      const double* const own = &p[row * m_width];
      const double* const below = row > 0 ? own - m_width : (ghosts.lower.empty() ? m_zeros : ghosts.lower).data();
      const double* const above = row + 1 < rows ? own + m_width : (ghosts.upper.empty() ? m_zeros : ghosts.upper).data();
      double* const result = &q[row * m_width];
      for (std::size_t column = 0; column < m_width; ++column)
        result[column] = 4 * own[column] - (column > 0 ? own[column - 1] : 0) -
                         (column + 1 < m_width ? own[column + 1] : 0) - below[column] - above[column];
    }
  }

  std::size_t m_width;
  span_of_items m_rows;
  row_network m_network;
  vector m_zeros;
};

// Values of these rows that differ from the serial result. Sums are in another order there: the last digits differ.
inline std::uint64_t count_wrong(const vector& x, std::int64_t size, std::int64_t steps, span_of_items rows) {
  const vector serial = square_part(size, {0, size}, no_network()).solve(steps);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = serial[static_cast<std::size_t>(rows.first * size) + i];
    wrong += !(std::abs(x[i] - expected) <= 1e-8 * std::max(1.0, std::abs(expected)));
  }
  return wrong;
}

}  // namespace workload::poisson
