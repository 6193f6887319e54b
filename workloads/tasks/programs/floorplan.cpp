// Branch and bound: rectangles, each in two orientations, are placed one after another right of or below an earlier one,
// so that what encloses them all is smallest. A task for each place of the first few; all share the best area so far.
#include <algorithm>
#include <array>
#include <atomic>

#include "program.hpp"

namespace programs::floorplan {

constexpr std::int64_t most_cells = 16, task_depth = 4;

struct rectangle {
  int x = 0, y = 0, width = 0, height = 0;
  bool meets(const rectangle& second) const noexcept {
    return x < second.x + second.width && second.x < x + width && y < second.y + second.height && second.y < y + height;
  }
};

struct plan {
  std::array<rectangle, most_cells> placed;
  std::int64_t count = 0;
  int width = 0, height = 0;
};

struct search {
  std::int64_t cells;
  std::atomic<int> best;
};

rectangle cell(std::int64_t number) noexcept {
  random_numbers random(static_cast<std::uint64_t>(number) + 100);
  return {0, 0, static_cast<int>(2 + random.random_below(7)), static_cast<int>(2 + random.random_below(7))};
}

void lower(std::atomic<int>& best, int area) noexcept {
  for (int current = best.load(); area < current && !best.compare_exchange_weak(current, area);) {
  }
}

template <class how>
void place(const plan& so_far, search& state) {
  if (so_far.count == state.cells) return lower(state.best, so_far.width * so_far.height);
  const rectangle next = cell(so_far.count);
  std::vector<plan> plans;
  for (const auto& [wide, high] : {std::pair{next.width, next.height}, std::pair{next.height, next.width}}) {
    const auto add = [&, width = wide, height = high](int x, int y) {
      const rectangle candidate{x, y, width, height};
      for (std::int64_t i = 0; i < so_far.count; ++i)
        if (candidate.meets(so_far.placed[index(i)])) return;
      plan extended = so_far;
      extended.placed[index(extended.count++)] = candidate;
      extended.width = std::max(extended.width, x + width);
      extended.height = std::max(extended.height, y + height);
      if (extended.width * extended.height < state.best.load(std::memory_order_relaxed)) plans.push_back(extended);
    };
    if (so_far.count == 0) add(0, 0);
    for (std::int64_t i = 0; i < so_far.count; ++i) {
      const rectangle& spot = so_far.placed[index(i)];
      add(spot.x + spot.width, spot.y);
      add(spot.x, spot.y + spot.height);
    }
  }
  if (so_far.count >= task_depth) {
    for (const plan& element : plans) place<how>(element, state);
    return;
  }
  const auto deferred = [&state](const plan& placed) { return [&state, placed] { place<how>(placed, state); }; };
  std::vector<decltype(how::async(deferred(so_far)))> tasks;
  for (const plan& element : plans) tasks.push_back(how::async(deferred(element)));
  get_all(tasks);
}

template <class how>
std::int64_t answer(std::int64_t cells) {
  search best_search{std::min(cells, most_cells), 1 << 20};
  place<how>({}, best_search);
  return best_search.best.load();
}

}  // namespace programs::floorplan

const programs::program programs::floorplan_program = {"floorplan", "cells, at most 16", 10, floorplan::answer<by_tasks>,
                                                       floorplan::answer<serially>};
