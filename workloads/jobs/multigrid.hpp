// V-cycles for the equation of Poisson on a square: W. Briggs, V. Henson, S. McCormick, "A multigrid tutorial" (SIAM, 2000).
// Needs no Trimtab: the same program in plain MPI uses it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parts.hpp"
#include "rows.hpp"

namespace workload::multigrid {

using vector = std::vector<double>;

// Which of the points 2, 4, 6 ... have these rows, as rows of the next coarser grid. Rows are counted from 1.
inline span_of_items coarser(span_of_items rows) noexcept { return {(rows.first + 1) / 2, (rows.last + 1) / 2}; }

// How large the finest grid is, and how many grids there are: on the coarsest one everybody has a row.
struct size {
  std::int64_t width, localities, grids = 0;
  size(std::int64_t levels, std::int64_t count) : width((std::int64_t{1} << levels) - 1), localities(count) {
    for (std::int64_t grid = 0; grid < levels && each_has_a_row(grid); ++grid) ++grids;
  }
  span_of_items rows_of(std::int64_t locality) const noexcept {
    const span_of_items part = part_of(width, locality, localities);
    return {part.first + 1, part.last + 1};
  }

 private:
  bool each_has_a_row(std::int64_t grid) const noexcept {
    for (std::int64_t locality = 0; locality < localities; ++locality) {
      span_of_items rows = rows_of(locality);
      for (std::int64_t step = 0; step < grid; ++step) rows = coarser(rows);
      if (rows.size() == 0) return false;
    }
    return true;
  }
};

// Some rows of values on a grid, with a border around them. Beyond the square all values are 0.
class grid_rows {
 public:
  grid_rows(std::size_t rows, std::size_t width) : m_rows(rows), m_width(width), m_values((rows + 2) * (width + 2)) {}
  std::size_t rows() const noexcept { return m_rows; }
  std::size_t width() const noexcept { return m_width; }
  // Row 1 to rows(), column 1 to width().
  double* row(std::size_t number) noexcept { return &m_values[number * (m_width + 2)]; }
  const double* row(std::size_t number) const noexcept { return &m_values[number * (m_width + 2)]; }
  void clear() { std::fill(m_values.begin(), m_values.end(), 0.0); }

  // Fills the border with the neighbours' rows. The border's columns travel, too: they are 0.
  void exchange(const row_network& network) {
    const std::size_t length = m_width + 2;
    const ghost_rows ghosts = network.exchange(std::span(m_values).subspan(length, m_rows * length), length);
    std::copy(ghosts.lower.begin(), ghosts.lower.end(), row(0));
    std::copy(ghosts.upper.begin(), ghosts.upper.end(), row(m_rows + 1));
  }

 private:
  std::size_t m_rows, m_width;
  vector m_values;
};

// One grid: the equation is (4 u - the four neighbours of u) = f.
struct grid {
  span_of_items rows;  // counted from 1
  grid_rows u, f, residual;
  grid(span_of_items own, std::int64_t width)
      : rows(own), u(static_cast<std::size_t>(own.size()), static_cast<std::size_t>(width)), f(u), residual(u) {}
};

class hierarchy {
 public:
  hierarchy(const size& all, span_of_items rows, row_network network) : m_network(std::move(network)) {
    std::int64_t width = all.width;
    for (std::int64_t number = 0; number < all.grids; ++number, rows = coarser(rows), width /= 2)
      m_grids.emplace_back(rows, width);
    grid& finest = m_grids.front();
    for (std::size_t row = 1; row <= finest.f.rows(); ++row)
      for (std::size_t column = 1; column <= finest.f.width(); ++column)
        finest.f.row(row)[column] = start_of(finest.rows.first + static_cast<std::int64_t>(row) - 1, column);
  }

  void cycle() { descend(0); }
  const grid_rows& solution() const noexcept { return m_grids.front().u; }

  // How far the equation is from being solved, over all localities: the root of the sum of squares.
  double residual_norm() {
    find_residual(m_grids.front());
    double sum = 0;
    const grid_rows& residual = m_grids.front().residual;
    for (std::size_t row = 1; row <= residual.rows(); ++row)
      for (std::size_t column = 1; column <= residual.width(); ++column)
        sum += residual.row(row)[column] * residual.row(row)[column];
    return std::sqrt(m_network.sum(sum));
  }

 private:
  static constexpr int sweeps = 2, coarsest_sweeps = 8;

  static double start_of(std::int64_t row, std::size_t column) {
    return static_cast<double>((row * 7919 + static_cast<std::int64_t>(column) * 104'729) % 101) / 101;
  }

  void descend(std::size_t number) {
    grid& own = m_grids[number];
    if (number + 1 == m_grids.size()) return smooth(own, coarsest_sweeps);
    grid& coarse = m_grids[number + 1];
    smooth(own, sweeps);
    find_residual(own);
    own.residual.exchange(m_network);
    restrict_to(own, coarse);
    coarse.u.clear();
    descend(number + 1);
    coarse.u.exchange(m_network);
    correct(own, coarse);
    smooth(own, sweeps);
  }

  // Weighted Jacobi steps.
  void smooth(grid& own, int count) {
    for (int sweep = 0; sweep < count; ++sweep) {
      find_residual(own);
      for (std::size_t row = 1; row <= own.u.rows(); ++row)
        for (std::size_t column = 1; column <= own.u.width(); ++column)
          own.u.row(row)[column] += 0.2 * own.residual.row(row)[column];
    }
  }

  void find_residual(grid& own) {
    own.u.exchange(m_network);
    for (std::size_t row = 1; row <= own.u.rows(); ++row) {
      const double* const below = own.u.row(row - 1);
      const double* const u = own.u.row(row);
      const double* const above = own.u.row(row + 1);
      const double* const f = own.f.row(row);
      double* const residual = own.residual.row(row);
      for (std::size_t column = 1; column <= own.u.width(); ++column)
        residual[column] = f[column] - 4 * u[column] + u[column - 1] + u[column + 1] + below[column] + above[column];
    }
  }

  // Full weighting; the factor 4 is that of the coarser grid's square distance.
  static void restrict_to(const grid& fine, grid& coarse) {
    for (std::size_t row = 1; row <= coarse.f.rows(); ++row) {
      const double* const middle = fine.residual.row(fine_row(fine, coarse, row));
      const double* const below = middle - (fine.residual.width() + 2);
      const double* const above = middle + (fine.residual.width() + 2);
      for (std::size_t column = 1; column <= coarse.f.width(); ++column) {
        const std::size_t at = 2 * column;
        coarse.f.row(row)[column] = 4 *
                                    (4 * middle[at] + 2 * (middle[at - 1] + middle[at + 1] + below[at] + above[at]) +
                                     below[at - 1] + below[at + 1] + above[at - 1] + above[at + 1]) /
                                    16;
      }
    }
  }

  // The coarse row, as a row of the fine grid's part.
  static std::size_t fine_row(const grid& fine, const grid& coarse, std::size_t row) noexcept {
    return static_cast<std::size_t>(2 * (coarse.rows.first + static_cast<std::int64_t>(row) - 1) - fine.rows.first + 1);
  }

  // Adds the coarse values, and means of their neighbours in between.
  static void correct(grid& fine, const grid& coarse) {
    for (std::size_t row = 1; row <= fine.u.rows(); ++row) {
      const std::int64_t number = fine.rows.first + static_cast<std::int64_t>(row) - 1;
      const double* const below = coarse.u.row(static_cast<std::size_t>(number / 2 - coarse.rows.first + 1));
      const double* const above = coarse.u.row(static_cast<std::size_t>((number + 1) / 2 - coarse.rows.first + 1));
      for (std::size_t column = 1; column <= fine.u.width(); ++column) {
        const std::size_t left = column / 2, right = (column + 1) / 2;
        fine.u.row(row)[column] += 0.25 * (below[left] + below[right] + above[left] + above[right]);
      }
    }
  }

  row_network m_network;
  std::vector<grid> m_grids;
};

// Values of these rows that differ from those of one locality. Cycles must also come closer to the solution.
inline std::uint64_t count_wrong(hierarchy& own, const size& all, span_of_items rows, std::int64_t cycles) {
  size alone(all);
  alone.localities = 1;
  hierarchy serial(alone, alone.rows_of(0), no_network());
  const double begin = serial.residual_norm();
  for (std::int64_t cycle = 0; cycle < cycles; ++cycle) serial.cycle();
  std::uint64_t wrong = !(serial.residual_norm() <= begin * std::max(std::pow(0.7, cycles), 1e-9));
  for (std::size_t row = 1; row <= own.solution().rows(); ++row)
    for (std::size_t column = 1; column <= own.solution().width(); ++column) {
      const double expected = serial.solution().row(static_cast<std::size_t>(rows.first) + row - 1)[column];
      wrong += !(std::abs(own.solution().row(row)[column] - expected) <= 1e-9 * std::max(1.0, std::abs(expected)));
    }
  return wrong;
}

}  // namespace workload::multigrid
