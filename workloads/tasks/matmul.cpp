// C = A B in blocks. Each block of C is a chain of tasks, one for each product that is added to it; the chains are
// independent.
#include <cstdint>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

class matrix {
 public:
  matrix(std::int64_t size, std::int64_t seed) : m_size(size), m_values(static_cast<std::size_t>(size * size)) {
    for (std::int64_t i = 0; i < size * size; ++i)
      m_values[static_cast<std::size_t>(i)] = seed == 0 ? 0 : static_cast<double>((i * seed) % 17 - 8);
  }
  double* row(std::int64_t i) noexcept { return m_values.data() + i * m_size; }
  const double* row(std::int64_t i) const noexcept { return m_values.data() + i * m_size; }

 private:
  std::int64_t m_size;
  std::vector<double> m_values;
};

struct product {
  std::int64_t size, block;
  matrix a, b, c;
  product(std::int64_t edge, std::int64_t block_edge) : size(edge), block(block_edge), a(edge, 7), b(edge, 11), c(edge, 0) {}

  std::int64_t blocks() const noexcept { return (size + block - 1) / block; }
  // c(i, j) += a(i, k) b(k, j), of blocks.
  void add(std::int64_t i, std::int64_t j, std::int64_t k) noexcept {
    const auto end = [this](std::int64_t which) { return std::min((which + 1) * block, size); };
    for (std::int64_t y = i * block; y < end(i); ++y)
      for (std::int64_t z = k * block; z < end(k); ++z) {
        const double factor = a.row(y)[z];
        double* const to = c.row(y);
        const double* const from = b.row(z);
        for (std::int64_t x = j * block; x < end(j); ++x) to[x] += factor * from[x];
      }
  }
};

void run(product& of) {
  const std::int64_t count = of.blocks();
  std::vector<trimtab::future<void>> done;
  done.reserve(static_cast<std::size_t>(count * count));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < count; ++j) {
      auto sum = trimtab::async([&of, i, j] { of.add(i, j, 0); });
      for (std::int64_t k = 1; k < count; ++k)
        sum = trimtab::dataflow([&of, i, j, k](const trimtab::future<void>&) { of.add(i, j, k); }, std::move(sum));
      done.push_back(std::move(sum));
    }
  for (auto& each : done) each.get();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 512, 1, 20'000);
  const std::int64_t block = line.number("--block", 64, 1, size);
  line.end();

  product here(size, block);
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  runtime.run([&] { run(here); });
  figures.stop();

  std::printf("size=%lld\nblock=%lld\n", static_cast<long long>(size), static_cast<long long>(block));
  figures.print();
  const double edge = static_cast<double>(size);
  std::printf("gflops=%.6g\n", 2e-9 * edge * edge * edge / figures.time_s());
  workload::difference first;
  if (line.is_checked) {
    product serial(size, size);
    serial.add(0, 0, 0);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) first.look(i * size + j, here.c.row(i)[j], serial.c.row(i)[j]);
  }
  return workload::conclude(line.program(), line.is_checked, here.c.row(size - 1)[size - 1], first);
}
