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
  board with(std::uint32_t queen) const noexcept { return {columns | queen, (left | queen) << 1, (right | queen) >> 1}; }
  std::uint32_t free(std::uint32_t all) const noexcept { return all & ~(columns | left | right); }
};

std::int64_t serial(const board& here, std::uint32_t all) {
  if (here.columns == all) return 1;
  std::int64_t found = 0;
  for (std::uint32_t free = here.free(all); free != 0; free &= free - 1) found += serial(here.with(free & -free), all);
  return found;
}

std::int64_t search(const board& here, std::uint32_t all, std::int64_t depth) {
  if (depth == 0) return serial(here, all);
  if (here.columns == all) return 1;
  std::vector<std::int64_t> found(static_cast<std::size_t>(__builtin_popcount(here.free(all))));
  trimtab::task_scope scope;
  std::int64_t* each = found.data();
  for (std::uint32_t free = here.free(all); free != 0; free &= free - 1, ++each)
    scope.spawn([=, next = here.with(free & -free)] { *each = search(next, all, depth - 1); });
  scope.wait();
  return std::accumulate(found.begin(), found.end(), std::int64_t{0});
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 12, 1, 20);
  const std::int64_t depth = line.number("--depth", 5, 0, 20);
  line.end();

  const std::uint32_t all = (1u << size) - 1;
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t answer = runtime.run([&] { return search({}, all, depth); });
  figures.stop();

  std::printf("size=%lld\ndepth=%lld\n", static_cast<long long>(size), static_cast<long long>(depth));
  figures.print();
  return workload::conclude(line.program(), line.is_checked, answer, line.is_checked ? serial({}, all) : answer);
}
