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
std::int64_t solutions(const board& parent) {
  if (parent.row == parent.size) return 1;
  std::int64_t total = 0;
  if (parent.row >= task_rows) {
    parent.each_free([&](const board& next) { total += solutions<how>(next); });
    return total;
  }
  const auto deferred = [](const board& next) { return [next] { return solutions<how>(next); }; };
  std::vector<decltype(how::async(deferred(parent)))> tasks;
  parent.each_free([&](const board& next) { tasks.push_back(how::async(deferred(next))); });
  for (auto& element : tasks) total += element.get();
  return total;
}

template <class how>
std::int64_t answer(std::int64_t size) {
  return solutions<how>({size, 0, 0, 0, 0});
}

}  // namespace programs::nqueens

const programs::program programs::nqueens_program = {"nqueens", "queens", 14, nqueens::answer<by_tasks>,
                                                     nqueens::answer<serially>};
