// C = A B in blocks, as a graph of tasks over blocks of data: each task reads a block of A and one of B and writes one of C.
// Nothing says in which order the products of one block of C are added up: they take turns.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

// Whole numbers, so that sums do not depend on the order.
double element(std::int64_t size, std::int64_t y, std::int64_t x, std::int64_t seed) {
  return static_cast<double>((y * size + x) * seed % 17 - 8);
}

// Matrices of size x size, cut into blocks of which those at the end may be smaller.
struct cut {
  std::int64_t size, block;
  std::int64_t count() const noexcept { return (size + block - 1) / block; }
  std::int64_t edge(std::int64_t index) const noexcept { return std::min(block, size - index * block); }
};

class matrix {
 public:
  matrix(trimtab::graph& tasks, const cut& shape, std::int64_t seed) : m_cut(shape) {
    for (std::int64_t i = 0; i < shape.count(); ++i)
      for (std::int64_t j = 0; j < shape.count(); ++j) {
        m_blocks.push_back(tasks.make_block<double>(static_cast<std::size_t>(shape.edge(i) * shape.edge(j))));
        if (seed == 0) continue;
        double* target = m_blocks.back().values().data();
        for (std::int64_t y = 0; y < shape.edge(i); ++y)
          for (std::int64_t x = 0; x < shape.edge(j); ++x)
            *target++ = element(shape.size, i * shape.block + y, j * shape.block + x, seed);
      }
  }
  const auto& block(std::int64_t i, std::int64_t j) const {
    return m_blocks[static_cast<std::size_t>(i * m_cut.count() + j)];
  }
  double element_at(std::int64_t y, std::int64_t x) const {
    const std::int64_t j = x / m_cut.block;
    return block(y / m_cut.block, j).values()[static_cast<std::size_t>(y % m_cut.block * m_cut.edge(j) + x % m_cut.block)];
  }

 private:
  cut m_cut;
  std::vector<trimtab::tasks::block<double>> m_blocks;
};

// c += a b, of so many rows, columns, and products for each.
void add_product(const double* a, const double* b, double* c, std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t z = 0; z < inner; ++z)
      for (std::int64_t x = 0; x < columns; ++x) c[y * columns + x] += a[y * inner + z] * b[z * columns + x];
}

void multiply(trimtab::graph& tasks, const cut& shape, const matrix& a, const matrix& b, const matrix& c) {
  const std::int64_t count = shape.count();
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < count; ++j)
        tasks.task(
            "multiply",
            [rows = shape.edge(i), columns = shape.edge(j), inner = shape.edge(k)](
                std::span<const double> left, std::span<const double> right, std::span<double> sum) {
              add_product(left.data(), right.data(), sum.data(), rows, columns, inner);
            },
            trimtab::read_only(a.block(i, k)), trimtab::read_only(b.block(k, j)), trimtab::exclusive_write(c.block(i, j)));
  tasks.wait();
}

std::vector<double> serial_product(std::int64_t size) {
  const std::size_t elements = static_cast<std::size_t>(size * size);
  std::vector<double> a(elements), b(elements), c(elements);
  for (std::int64_t i = 0; i < size * size; ++i) {
    a[static_cast<std::size_t>(i)] = element(size, i / size, i % size, 7);
    b[static_cast<std::size_t>(i)] = element(size, i / size, i % size, 11);
  }
  add_product(a.data(), b.data(), c.data(), size, size, size);
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 512, 1, 20'000);
  const std::int64_t block = line.number("--block", 64, 1, size);
  line.end();

  trimtab::runtime runtime(line.runtime);
  trimtab::graph graph(runtime);
  const cut shape{size, block};
  const matrix a(graph, shape, 7), b(graph, shape, 11), c(graph, shape, 0);
  workload::figures figures(runtime);
  runtime.run([&] { multiply(graph, shape, a, b, c); });
  figures.stop();

  std::printf("size=%lld\nblock=%lld\n", static_cast<long long>(size), static_cast<long long>(block));
  figures.print();
  const double edge = static_cast<double>(size);
  std::printf("gflops=%.6g\n", 2e-9 * edge * edge * edge / figures.time_s());
  workload::difference first;
  if (line.is_checked) {
    const std::vector<double> serial = serial_product(size);
    for (std::int64_t i = 0; i < size * size; ++i)
      first.look(i, c.element_at(i / size, i % size), serial[static_cast<std::size_t>(i)], 0);
  }
  return workload::conclude(line.program(), line.is_checked, c.element_at(size - 1, size - 1), first);
}
