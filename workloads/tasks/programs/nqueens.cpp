// In how many ways N queens stand on a board of N x N without attacking each other: a task for each place in the upper rows.
#include "program.hpp"

namespace programs::nqueens {

constexpr std::int64_t task_rows = 4;

struct board {
  std::int64_t size, row;
  std::uint32_t columns, left, right;  // attacked in this row

  template <class function>
  void each_free(function&& call) const {
    for (std::uint32_t free = ~(columns | left | right) & ((1u << size) - 1); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & (~free + 1);
      call(board{size, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1});
    }
  }
};

template <class how>
std::int64_t solutions(const board& from) {
  if (from.row == from.size) return 1;
  std::int64_t found = 0;
  if (from.row >= task_rows) {
    from.each_free([&](const board& next) { found += solutions<how>(next); });
    return found;
  }
  const auto later = [](const board& next) { return [next] { return solutions<how>(next); }; };
  std::vector<decltype(how::async(later(from)))> tasks;
  from.each_free([&](const board& next) { tasks.push_back(how::async(later(next))); });
  for (auto& each : tasks) found += each.get();
  return found;
}

template <class how>
std::int64_t answer(std::int64_t size) {
  return solutions<how>({size, 0, 0, 0, 0});
}

}  // namespace programs::nqueens

const programs::program programs::nqueens_program = {"nqueens", "queens", 14, nqueens::answer<by_tasks>,
                                                     nqueens::answer<serially>};
