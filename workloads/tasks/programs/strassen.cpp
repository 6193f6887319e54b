// The product of two matrices by seven products of halves (Strassen 1969), each a task.
#include "program.hpp"

namespace programs::strassen {

constexpr std::int64_t grain = 64;

struct square {
  explicit square(std::int64_t edge) : size(edge), values(index(edge * edge)) {}
  std::int64_t size;
  std::vector<double> values;
  double* row(std::int64_t y) noexcept { return values.data() + y * size; }
  const double* row(std::int64_t y) const noexcept { return values.data() + y * size; }
  square quarter(std::int64_t limit, std::int64_t right) const {
    square product(size / 2);
    for (std::int64_t y = 0; y < product.size; ++y)
      for (std::int64_t x = 0; x < product.size; ++x)
        product.row(y)[x] = row(y + limit * product.size)[x + right * product.size];
    return product;
  }
};

square sum(const square& a, const square& b, double sign) {
  square product(a.size);
  for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] = a.values[i] + sign * b.values[i];
  return product;
}

square plain(const square& a, const square& b) {
  square product(a.size);
  for (std::int64_t y = 0; y < a.size; ++y)
    for (std::int64_t z = 0; z < a.size; ++z)
      for (std::int64_t x = 0; x < a.size; ++x) product.row(y)[x] += a.row(y)[z] * b.row(z)[x];
  return product;
}

template <class how>
square product(const square& a, const square& b) {
  if (a.size <= grain) return plain(a, b);
  const square a_11 = a.quarter(0, 0), a_12 = a.quarter(0, 1), a_21 = a.quarter(1, 0), a_22 = a.quarter(1, 1);
  const square b11 = b.quarter(0, 0), b12 = b.quarter(0, 1), b21 = b.quarter(1, 0), b22 = b.quarter(1, 1);
  const auto deferred = [](square x, square y) { return how::async([x, y] { return product<how>(x, y); }); };
  auto f1 = deferred(sum(a_11, a_22, 1), sum(b11, b22, 1)), f2 = deferred(sum(a_21, a_22, 1), b11);
  auto f3 = deferred(a_11, sum(b12, b22, -1)), f4 = deferred(a_22, sum(b21, b11, -1)),
       f5 = deferred(sum(a_11, a_12, 1), b22);
  auto f6 = deferred(sum(a_21, a_11, -1), sum(b11, b12, 1)), f7 = deferred(sum(a_12, a_22, -1), sum(b21, b22, 1));
  const square m1 = f1.get(), m2 = f2.get(), m3 = f3.get(), m4 = f4.get(), m5 = f5.get(), m6 = f6.get(), m7 = f7.get();
  square product(a.size);
  const std::int64_t half = a.size / 2;
  for (std::int64_t y = 0; y < half; ++y)
    for (std::int64_t x = 0; x < half; ++x) {
      product.row(y)[x] = m1.row(y)[x] + m4.row(y)[x] - m5.row(y)[x] + m7.row(y)[x];
      product.row(y)[x + half] = m3.row(y)[x] + m5.row(y)[x];
      product.row(y + half)[x] = m2.row(y)[x] + m4.row(y)[x];
      product.row(y + half)[x + half] = m1.row(y)[x] - m2.row(y)[x] + m3.row(y)[x] + m6.row(y)[x];
    }
  return product;
}

struct factors {
  explicit factors(std::int64_t power) : a(std::int64_t{1} << power), b(a.size) {
    random_numbers random(19);
    // Small whole numbers, so that every order of adding gives the same.
    for (square* const each : {&a, &b})
      for (double& value : each->values) value = static_cast<double>(random.random_below(10));
  }
  square a, b;
};

std::int64_t digest_of(const square& actual) { return digest(actual.values.data(), actual.values.size()); }

std::int64_t answer(std::int64_t power) {
  const factors input(power);
  return digest_of(product<by_tasks>(input.a, input.b));
}

std::int64_t expected_answer(std::int64_t power) {
  const factors input(power);
  return digest_of(plain(input.a, input.b));
}

}  // namespace programs::strassen

const programs::program programs::strassen_program = {"strassen", "2^N rows", 9, strassen::answer,
                                                      strassen::expected_answer};
