// Ways to place n queens that do not attack each other: a search tree of which many branches end early. Tasks down to
// --depth rows, serial search below.
#include <cstdint>
#include <numeric>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

// Bits are columns; the diagonals move by one with each row.
struct board {
  std::uint32_t columns = 0, left = 0, right = 0;
  board with_queen(std::uint32_t queen) const noexcept {
    return {columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
  std::uint32_t free(std::uint32_t full_mask) const noexcept { return full_mask & ~(columns | left | right); }
};

std::int64_t serial(const board& position, std::uint32_t full_mask) {
  if (position.columns == full_mask) return 1;
  std::int64_t total = 0;
  for (std::uint32_t free = position.free(full_mask); free != 0; free &= free - 1)
    total += serial(position.with_queen(free & -free), full_mask);
  return total;
}

std::int64_t search(const board& position, std::uint32_t full_mask, std::int64_t depth) {
  if (depth == 0) return serial(position, full_mask);
  if (position.columns == full_mask) return 1;
  std::vector<std::int64_t> total(static_cast<std::size_t>(__builtin_popcount(position.free(full_mask))));
  trimtab::task_scope scope;
  std::int64_t* element = total.data();
  for (std::uint32_t free = position.free(full_mask); free != 0; free &= free - 1, ++element)
    scope.spawn([=, next = position.with_queen(free & -free)] { *element = search(next, full_mask, depth - 1); });
  scope.wait();
  return std::accumulate(total.begin(), total.end(), std::int64_t{0});
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 12, 1, 20);
  const std::int64_t depth = line.number("--depth", 5, 0, 20);
  line.end();

  const std::uint32_t full_mask = (1u << size) - 1;
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t answer = runtime.run([&] { return search({}, full_mask, depth); });
  figures.stop();

  std::printf("size=%lld\ndepth=%lld\n", static_cast<long long>(size), static_cast<long long>(depth));
  figures.print();
  return workload::conclude(line.program(), line.is_checked, answer, line.is_checked ? serial({}, full_mask) : answer);
}
