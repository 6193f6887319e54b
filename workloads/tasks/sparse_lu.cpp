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
  bool has(std::int64_t i, std::int64_t j) const noexcept { return m_blocks[index(i * m_count + j)] != nullptr; }
  double* at(std::int64_t i, std::int64_t j) const noexcept { return m_blocks[index(i * m_count + j)].get(); }
  void make(std::int64_t i, std::int64_t j) {
    if (!has(i, j)) m_blocks[index(i * m_count + j)] = std::make_unique<double[]>(index(m_edge * m_edge));
  }

  // The diagonal block into L and U.
  void factor(std::int64_t k) noexcept {
    double* const d = at(k, k);
    for (std::int64_t p = 0; p < m_edge; ++p)
      for (std::int64_t y = p + 1; y < m_edge; ++y) {
        d[y * m_edge + p] /= d[p * m_edge + p];
        for (std::int64_t x = p + 1; x < m_edge; ++x) d[y * m_edge + x] -= d[y * m_edge + p] * d[p * m_edge + x];
      }
  }
  // A block of the same row, by L.
  void forward(std::int64_t k, std::int64_t j) noexcept {
    const double* const d = at(k, k);
    double* const b = at(k, j);
    for (std::int64_t p = 0; p < m_edge; ++p)
      for (std::int64_t y = p + 1; y < m_edge; ++y)
        for (std::int64_t x = 0; x < m_edge; ++x) b[y * m_edge + x] -= d[y * m_edge + p] * b[p * m_edge + x];
  }
  // A block of the same column, by U.
  void divide(std::int64_t i, std::int64_t k) noexcept {
    const double* const d = at(k, k);
    double* const b = at(i, k);
    for (std::int64_t y = 0; y < m_edge; ++y)
      for (std::int64_t p = 0; p < m_edge; ++p) {
        b[y * m_edge + p] /= d[p * m_edge + p];
        for (std::int64_t x = p + 1; x < m_edge; ++x) b[y * m_edge + x] -= b[y * m_edge + p] * d[p * m_edge + x];
      }
  }
  // What is left: less the product of both.
  void update(std::int64_t i, std::int64_t j, std::int64_t k) noexcept {
    const double *const a = at(i, k), *const b = at(k, j);
    double* const c = at(i, j);
    for (std::int64_t y = 0; y < m_edge; ++y)
      for (std::int64_t z = 0; z < m_edge; ++z)
        for (std::int64_t x = 0; x < m_edge; ++x) c[y * m_edge + x] -= a[y * m_edge + z] * b[z * m_edge + x];
  }

 private:
  static std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }
  void fill(std::int64_t i, std::int64_t j) {
    make(i, j);
    double* const b = at(i, j);
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
void each_step(matrix& of, diagonal_function&& diagonal, row_function&& row, column_function&& column,
               rest_function&& rest) {
  for (std::int64_t k = 0; k < of.count(); ++k) {
    diagonal(k);
    for (std::int64_t j = k + 1; j < of.count(); ++j)
      if (of.has(k, j)) row(k, j);
    for (std::int64_t i = k + 1; i < of.count(); ++i)
      if (of.has(i, k)) column(i, k);
    for (std::int64_t i = k + 1; i < of.count(); ++i)
      for (std::int64_t j = k + 1; j < of.count(); ++j)
        if (of.has(i, k) && of.has(k, j)) {
          of.make(i, j);
          rest(i, j, k);
        }
  }
}

void factor_serially(matrix& of) {
  each_step(
      of, [&](auto k) { of.factor(k); }, [&](auto k, auto j) { of.forward(k, j); }, [&](auto i, auto k) { of.divide(i, k); },
      [&](auto i, auto j, auto k) { of.update(i, j, k); });
}

// Who is the last to write a block is all that must be known: a block that is read is never written again.
std::int64_t factor_by_tasks(matrix& of) {
  using done = trimtab::shared_future<void>;
  std::vector<done> last(static_cast<std::size_t>(of.count() * of.count()), done(trimtab::make_ready_future()));
  std::int64_t tasks = 0;
  const auto at = [&](std::int64_t i, std::int64_t j) -> done& {
    return last[static_cast<std::size_t>(i * of.count() + j)];
  };
  const auto then = [&](done& written, const auto& call, const auto&... read) {
    written = trimtab::dataflow([call](const auto&...) { call(); }, done(written), read...);
    ++tasks;
  };
  each_step(
      of, [&](auto k) { then(at(k, k), [&of, k] { of.factor(k); }); },
      [&](auto k, auto j) { then(at(k, j), [&of, k, j] { of.forward(k, j); }, at(k, k)); },
      [&](auto i, auto k) { then(at(i, k), [&of, i, k] { of.divide(i, k); }, at(k, k)); },
      [&](auto i, auto j, auto k) { then(at(i, j), [&of, i, j, k] { of.update(i, j, k); }, at(i, k), at(k, j)); });
  for (const done& each : last) each.get();
  return tasks;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t blocks = line.number("--blocks", 24, 1, 1000);
  const std::int64_t edge = line.number("--block", 32, 1, 1000);
  line.end();

  matrix here(blocks, edge);
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t tasks = runtime.run([&] { return factor_by_tasks(here); });
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
        for (std::int64_t n = 0; serial.has(i, j) && n < edge * edge; ++n)
          first.look((i * blocks + j) * edge * edge + n, here.at(i, j)[n], serial.at(i, j)[n]);
  }
  return workload::conclude(line.program(), line.is_checked, here.at(blocks - 1, blocks - 1)[edge * edge - 1], first);
}
