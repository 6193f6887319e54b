// LU factorisation of a matrix of blocks of which many are empty: a task for each block of a row, a column and the rest,
// which are awaited in turn.

#include "program.hpp"

namespace programs::sparselu {

constexpr std::int64_t edge = 32;
using block = std::vector<double>;

struct matrix {
  explicit matrix(std::int64_t edge_blocks) : count(edge_blocks), blocks(index(edge_blocks * edge_blocks)) {
    random_numbers random(17);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < count; ++j) {
        if (i != j && random.random_below(3) != 0) continue;
        block_at(i, j).resize(index(edge * edge));
        for (double& element : block_at(i, j)) element = random.uniform() - 0.5;
        for (std::int64_t d = 0; i == j && d < edge; ++d)
          block_at(i, j)[index(d * edge + d)] += static_cast<double>(edge * count);
      }
  }
  block& block_at(std::int64_t i, std::int64_t j) noexcept { return blocks[index(i * count + j)]; }
  std::int64_t count;
  std::vector<block> blocks;
};

double& element_of(block& source, std::int64_t y, std::int64_t x) noexcept { return source[index(y * edge + x)]; }

void factor(block& d) noexcept {
  for (std::int64_t p = 0; p < edge; ++p)
    for (std::int64_t y = p + 1; y < edge; ++y) {
      element_of(d, y, p) /= element_of(d, p, p);
      for (std::int64_t x = p + 1; x < edge; ++x) element_of(d, y, x) -= element_of(d, y, p) * element_of(d, p, x);
    }
}

void solve_row(block& d, block& b) noexcept {
  for (std::int64_t p = 0; p < edge; ++p)
    for (std::int64_t y = p + 1; y < edge; ++y)
      for (std::int64_t x = 0; x < edge; ++x) element_of(b, y, x) -= element_of(d, y, p) * element_of(b, p, x);
}

void solve_column(block& d, block& b) noexcept {
  for (std::int64_t y = 0; y < edge; ++y)
    for (std::int64_t p = 0; p < edge; ++p) {
      element_of(b, y, p) /= element_of(d, p, p);
      for (std::int64_t x = p + 1; x < edge; ++x) element_of(b, y, x) -= element_of(b, y, p) * element_of(d, p, x);
    }
}

void update(block& a, block& b, block& c) noexcept {
  for (std::int64_t y = 0; y < edge; ++y)
    for (std::int64_t z = 0; z < edge; ++z)
      for (std::int64_t x = 0; x < edge; ++x) element_of(c, y, x) -= element_of(a, y, z) * element_of(b, z, x);
}

// What a task does with three blocks, of which it may use fewer.
struct work {
  void (*kernel)(block& a, block& b, block& c);
  block *a, *b, *c;
  void operator()() const { kernel(*a, *b, *c); }
};

template <class how>
void factor_all(matrix& m) {
  for (std::int64_t k = 0; k < m.count; ++k) {
    block& d = m.block_at(k, k);
    factor(d);
    std::vector<decltype(how::async(work{}))> tasks;
    for (std::int64_t i = k + 1; i < m.count; ++i) {
      if (block& b = m.block_at(k, i); !b.empty())
        tasks.push_back(how::async(work{[](block& x, block& y, block&) { solve_row(x, y); }, &d, &b, &b}));
      if (block& b = m.block_at(i, k); !b.empty())
        tasks.push_back(how::async(work{[](block& x, block& y, block&) { solve_column(x, y); }, &d, &b, &b}));
    }
    get_all(tasks);
    tasks.clear();
    for (std::int64_t i = k + 1; i < m.count; ++i)
      for (std::int64_t j = k + 1; j < m.count; ++j) {
        block &a = m.block_at(i, k), &b = m.block_at(k, j);
        if (a.empty() || b.empty()) continue;
        m.block_at(i, j).resize(index(edge * edge));
        tasks.push_back(how::async(work{[](block& x, block& y, block& z) { update(x, y, z); }, &a, &b, &m.block_at(i, j)}));
      }
    get_all(tasks);
  }
}

template <class how>
std::int64_t answer(std::int64_t blocks) {
  matrix m(blocks);
  factor_all<how>(m);
  std::int64_t total = 0;
  for (const block& element : m.blocks) total = total * 31 + digest(element.data(), element.size());
  return total;
}

}  // namespace programs::sparselu

const programs::program programs::sparselu_program = {"sparselu", "blocks along an edge", 36, sparselu::answer<by_tasks>,
                                                      sparselu::answer<serially>};
