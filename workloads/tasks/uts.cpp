// Unbalanced tree search (after Olivier et al., 2006): counts the nodes of a tree whose shape nobody knows before. Each
// node's random state follows from its parent's and its own number, so that the tree is the same in every run.
// --shape geometric: the expected number of children falls with the depth. binomial: --children many with a probability of
// --permille / 1000, else none: subtrees of all sizes.
#include <cmath>
#include <cstdint>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

struct tree {
  bool is_geometric = true;
  std::int64_t roots = 0;     // children of the root
  std::int64_t depth = 0;     // of a geometric tree
  std::int64_t children = 0;  // of an inner node of a binomial tree
  double chance = 0;          // that a node is one
};

// splitmix64's mixing.
std::uint64_t mixed(std::uint64_t state) noexcept {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

struct node {
  std::uint64_t state = 0;
  std::int64_t height = 0;

  node child(std::int64_t number) const noexcept {
    return {mixed(state ^ mixed(static_cast<std::uint64_t>(number))), height + 1};
  }
  std::int64_t children(const tree& shape) const noexcept {
    if (height == 0) return shape.roots;
    const double uniform = static_cast<double>(state >> 11) * 0x1p-53;
    if (!shape.is_geometric) return uniform < shape.chance ? shape.children : 0;
    if (height >= shape.depth) return 0;
    const double expected =
        static_cast<double>(shape.roots) * (1 - static_cast<double>(height) / static_cast<double>(shape.depth));
    return static_cast<std::int64_t>(std::log(1 - uniform) / std::log(1 - 1 / (1 + expected)));
  }
};

std::int64_t serial(const node& parent, const tree& shape) {
  std::int64_t count = 1;
  for (std::int64_t i = 0, total = parent.children(shape); i < total; ++i) count += serial(parent.child(i), shape);
  return count;
}

std::int64_t count_below(const node& parent, const tree& shape, std::int64_t first, std::int64_t last);

std::int64_t count(const node& parent, const tree& shape) {
  const std::int64_t total = parent.children(shape);
  return total == 0 ? 1 : 1 + count_below(parent, shape, 0, total);
}

std::int64_t count_below(const node& parent, const tree& shape, std::int64_t first, std::int64_t last) {
  if (last - first == 1) return count(parent.child(first), shape);
  const std::int64_t middle = first + (last - first) / 2;
  std::int64_t a = 0, b = 0;
  trimtab::invoke([&] { a = count_below(parent, shape, first, middle); },
                  [&] { b = count_below(parent, shape, middle, last); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  tree shape;
  shape.is_geometric = line.word("--shape", {"geometric", "binomial"}) == "geometric";
  shape.roots = line.number("--roots", shape.is_geometric ? 4 : 2000, 1, 1'000'000);
  shape.depth = line.number("--depth", 20, 1, 100);
  shape.children = line.number("--children", 8, 1, 1000);
  shape.chance = static_cast<double>(line.number("--permille", 124, 0, 1000)) / 1000;
  const node root{mixed(static_cast<std::uint64_t>(line.number("--seed", 19, 0))), 0};
  line.end();
  // The mean number of children must be below one, or the tree may never end.
  if (!shape.is_geometric && shape.chance * static_cast<double>(shape.children) >= 1)
    line.fail("--permille", "less than 1000 / --children", std::to_string(shape.chance * 1000));

  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t nodes = runtime.run([&] { return count(root, shape); });
  figures.stop();

  std::printf("nodes=%lld\n", static_cast<long long>(nodes));
  figures.print();
  std::printf("nodes_per_s=%.6g\n", static_cast<double>(nodes) / figures.time_s());
  return workload::conclude(line.program(), line.is_checked, nodes, line.is_checked ? serial(root, shape) : nodes);
}
