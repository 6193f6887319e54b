// Fourier transforms of one row, and what a transform of many localities is made of. Needs no Trimtab: the same program in
// plain MPI uses it.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "parts.hpp"

namespace workload::fourier {

using element = std::complex<double>;

// e^(-2 pi i k / n).
inline element root_of_unity(std::uint64_t k, std::uint64_t n) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

// By parts: the library's product looks for infinities.
inline element product(element a, element b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Transforms rows of one length, a power of 2, in place and without a factor: J. Cooley, J. Tukey, "An algorithm for the
// machine calculation of complex Fourier series" (Math. Comp. 19, 1965).
class row_transform {
 public:
  explicit row_transform(std::size_t length) : m_roots(length / 2), m_reversed(length) {
    for (std::size_t k = 0; k < m_roots.size(); ++k) m_roots[k] = root_of_unity(k, length);
    for (std::size_t i = 1; i < length; ++i) m_reversed[i] = m_reversed[i / 2] / 2 + (i % 2) * (length / 2);
  }

  void apply(std::span<element> row) const {
    const std::size_t length = m_reversed.size();
    for (std::size_t i = 0; i < length; ++i)
      if (i < m_reversed[i]) std::swap(row[i], row[m_reversed[i]]);
    for (std::size_t half = 1; half < length; half *= 2)
      for (std::size_t begin = 0; begin < length; begin += 2 * half) combine(&row[begin], half, length / (2 * half));
  }

 private:
  // Two transforms of `half` elements each to one.
  void combine(element* even, std::size_t half, std::size_t root_step) const {
    element* const odd = even + half;
    for (std::size_t k = 0; k < half; ++k) {
      const element turned = product(odd[k], m_roots[k * root_step]);
      odd[k] = even[k] - turned;
      even[k] += turned;
    }
  }

  std::vector<element> m_roots;
  std::vector<std::size_t> m_reversed;
};

// The transform of side * side elements by transforms of rows with transpositions between them: D. Bailey, "FFTs in external
// or hierarchical memory" (J. Supercomputing 4, 1990). The elements are a square matrix, row after row, of which a locality
// has some rows. A step is: transpose, transform_first, transpose, transform_second, transpose.
class plan {
 public:
  explicit plan(std::size_t side) : m_side(side), m_of_rows(side) {}
  std::size_t side() const noexcept { return m_side; }
  std::size_t size() const noexcept { return m_side * m_side; }

  // number: of the row, in the whole matrix.
  void transform_first(std::span<element> row, std::size_t number) const {
    m_of_rows.apply(row);
    // Powers of one root, with a fresh one now and then: sines are expensive, and rounding errors stay small.
    const element step = root_of_unity(number, size());
    element root = 1;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k % 16 == 0) root = root_of_unity(number * k, size());
      row[k] = product(row[k], root);
      root = product(root, step);
    }
  }
  // The factor keeps the sum of squares, so that transforms can follow each other.
  void transform_second(std::span<element> row) const {
    m_of_rows.apply(row);
    for (element& value : row) value /= static_cast<double>(m_side);
  }

 private:
  std::size_t m_side;
  row_transform m_of_rows;
};

inline element start_of(std::uint64_t index) {
  const std::uint64_t bits = mixed(index);
  return {static_cast<double>(bits % 1000) / 1000, static_cast<double>((bits >> 32) % 1000) / 1000};
}

// All of it with one row: a different way from the one above.
inline std::vector<element> transform_serially(std::size_t size, std::int64_t steps) {
  std::vector<element> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = start_of(i);
  const row_transform whole(size);
  const double factor = 1 / std::sqrt(static_cast<double>(size));
  for (std::int64_t step = 0; step < steps; ++step) {
    whole.apply(all);
    for (element& value : all) value *= factor;
  }
  return all;
}

// The definition, for one frequency.
inline element frequency_of_start(std::uint64_t frequency, std::size_t size) {
  element sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += start_of(i) * root_of_unity(i * frequency, size);
  return sum / std::sqrt(static_cast<double>(size));
}

inline bool differ(element found, element expected, std::size_t size) {
  return !(std::abs(found - expected) <= 1e-12 * std::sqrt(static_cast<double>(size)) * (1 + std::abs(expected)));
}

// Values from element `first` on that differ from the serial result. After one step the serial result is compared, too: one
// of its values with the definition.
inline std::uint64_t count_wrong(std::span<const element> own, std::size_t first, std::size_t size, std::int64_t steps) {
  const std::vector<element> serial = transform_serially(size, steps);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < own.size(); ++i) wrong += differ(own[i], serial[first + i], size);
  const std::size_t frequency = size / 3;
  if (steps == 1) wrong += differ(serial[frequency], frequency_of_start(frequency, size), size);
  return wrong;
}

}  // namespace workload::fourier
