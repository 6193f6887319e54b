// LU factorisation of a matrix of blocks of which many are empty (after BOTS): tasks of four kinds, as many as the blocks
// that are there ask for, each when the blocks that it reads are done.
#include <cstdint>
#include <memory>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

using block = std::unique_ptr<double[]>;

class matrix {
 public:
  matrix(std::int64_t blocks, std::int64_t edge) : m_count(blocks), m_edge(edge), m_blocks(index(blocks * blocks)) {
    for (std::int64_t i = 0; i < blocks; ++i)
      for (std::int64_t j = 0; j < blocks; ++j)
        if (i == j || std::abs(i - j) == 1 || (i * 31 + j * 17) % 5 == 0) fill(i, j);
  }
  std::int64_t count() const noexcept { return m_count; }
  std::int64_t edge() const noexcept { return m_edge; }
  bool has_block(std::int64_t i, std::int64_t j) const noexcept { return m_blocks[index(i * m_count + j)] != nullptr; }
  double* block_at(std::int64_t i, std::int64_t j) const noexcept { return m_blocks[index(i * m_count + j)].get(); }
  void allocate_block(std::int64_t i, std::int64_t j) {
    if (!has_block(i, j)) m_blocks[index(i * m_count + j)] = std::make_unique<double[]>(index(m_edge * m_edge));
  }

  // The diagonal block into L and U.
  void factor(std::int64_t k) noexcept {
    double* const d = block_at(k, k);
    for (std::int64_t p = 0; p < m_edge; ++p)
      for (std::int64_t y = p + 1; y < m_edge; ++y) {
        d[y * m_edge + p] /= d[p * m_edge + p];
        for (std::int64_t x = p + 1; x < m_edge; ++x) d[y * m_edge + x] -= d[y * m_edge + p] * d[p * m_edge + x];
      }
  }
  // A block of the same row, by L.
  void forward(std::int64_t k, std::int64_t j) noexcept {
    const double* const d = block_at(k, k);
    double* const b = block_at(k, j);
    for (std::int64_t p = 0; p < m_edge; ++p)
      for (std::int64_t y = p + 1; y < m_edge; ++y)
        for (std::int64_t x = 0; x < m_edge; ++x) b[y * m_edge + x] -= d[y * m_edge + p] * b[p * m_edge + x];
  }
  // A block of the same column, by U.
  void divide(std::int64_t i, std::int64_t k) noexcept {
    const double* const d = block_at(k, k);
    double* const b = block_at(i, k);
    for (std::int64_t y = 0; y < m_edge; ++y)
      for (std::int64_t p = 0; p < m_edge; ++p) {
        b[y * m_edge + p] /= d[p * m_edge + p];
        for (std::int64_t x = p + 1; x < m_edge; ++x) b[y * m_edge + x] -= b[y * m_edge + p] * d[p * m_edge + x];
      }
  }
  // What is left: less the product of both.
  void update(std::int64_t i, std::int64_t j, std::int64_t k) noexcept {
    const double *const a = block_at(i, k), *const b = block_at(k, j);
    double* const c = block_at(i, j);
    for (std::int64_t y = 0; y < m_edge; ++y)
      for (std::int64_t z = 0; z < m_edge; ++z)
        for (std::int64_t x = 0; x < m_edge; ++x) c[y * m_edge + x] -= a[y * m_edge + z] * b[z * m_edge + x];
  }

 private:
  static std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }
  void fill(std::int64_t i, std::int64_t j) {
    allocate_block(i, j);
    double* const b = block_at(i, j);
    for (std::int64_t n = 0; n < m_edge * m_edge; ++n) b[n] = static_cast<double>((n * 37 + i * 5 + j * 3) % 23) / 23 - 0.5;
    // Large on the diagonal, so that no pivots need to be looked for.
    for (std::int64_t n = 0; i == j && n < m_edge; ++n) b[n * m_edge + n] += static_cast<double>(m_edge * m_count);
  }

  std::int64_t m_count;
  std::int64_t m_edge;
  std::vector<block> m_blocks;
};

// Calls diagonal(k), row(k, j), column(i, k) and rest(i, j, k) in the serial order. Blocks that fill up are made here.
template <class diagonal_function, class row_function, class column_function, class rest_function>
void each_step(matrix& a, diagonal_function&& diagonal, row_function&& row, column_function&& column, rest_function&& rest) {
  for (std::int64_t k = 0; k < a.count(); ++k) {
    diagonal(k);
    for (std::int64_t j = k + 1; j < a.count(); ++j)
      if (a.has_block(k, j)) row(k, j);
    for (std::int64_t i = k + 1; i < a.count(); ++i)
      if (a.has_block(i, k)) column(i, k);
    for (std::int64_t i = k + 1; i < a.count(); ++i)
      for (std::int64_t j = k + 1; j < a.count(); ++j)
        if (a.has_block(i, k) && a.has_block(k, j)) {
          a.allocate_block(i, j);
          rest(i, j, k);
        }
  }
}

void factor_serially(matrix& a) {
  each_step(
      a, [&](auto k) { a.factor(k); }, [&](auto k, auto j) { a.forward(k, j); }, [&](auto i, auto k) { a.divide(i, k); },
      [&](auto i, auto j, auto k) { a.update(i, j, k); });
}

// Who is the last to write a block is all that must be known: a block that is read is never written again.
std::int64_t factor_by_tasks(matrix& a) {
  using done_future = trimtab::shared_future<void>;
  std::vector<done_future> last(static_cast<std::size_t>(a.count() * a.count()), done_future(trimtab::make_ready_future()));
  std::int64_t tasks = 0;
  const auto index = [&](std::int64_t i, std::int64_t j) -> done_future& {
    return last[static_cast<std::size_t>(i * a.count() + j)];
  };
  const auto continuation = [&](done_future& written, const auto& call, const auto&... read) {
    written = trimtab::dataflow([call](const auto&...) { call(); }, done_future(written), read...);
    ++tasks;
  };
  each_step(
      a, [&](auto k) { continuation(index(k, k), [&a, k] { a.factor(k); }); },
      [&](auto k, auto j) { continuation(index(k, j), [&a, k, j] { a.forward(k, j); }, index(k, k)); },
      [&](auto i, auto k) { continuation(index(i, k), [&a, i, k] { a.divide(i, k); }, index(k, k)); },
      [&](auto i, auto j, auto k) {
        continuation(index(i, j), [&a, i, j, k] { a.update(i, j, k); }, index(i, k), index(k, j));
      });
  for (const done_future& element : last) element.get();
  return tasks;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t blocks = line.number("--blocks", 24, 1, 1000);
  const std::int64_t edge = line.number("--block", 32, 1, 1000);
  line.end();

  matrix local(blocks, edge);
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t tasks = runtime.run([&] { return factor_by_tasks(local); });
  figures.stop();

  std::printf("blocks=%lld\nblock=%lld\ntasks=%lld\n", static_cast<long long>(blocks), static_cast<long long>(edge),
              static_cast<long long>(tasks));
  figures.print();
  workload::difference first;
  if (line.is_checked) {
    matrix serial(blocks, edge);
    factor_serially(serial);
    for (std::int64_t i = 0; i < blocks; ++i)
      for (std::int64_t j = 0; j < blocks; ++j)
        for (std::int64_t n = 0; serial.has_block(i, j) && n < edge * edge; ++n)
          first.look((i * blocks + j) * edge * edge + n, local.block_at(i, j)[n], serial.block_at(i, j)[n]);
  }
  return workload::conclude(line.program(), line.is_checked, local.block_at(blocks - 1, blocks - 1)[edge * edge - 1], first);
}
