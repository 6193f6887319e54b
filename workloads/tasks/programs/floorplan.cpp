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
  bool meets(const rectangle& other) const noexcept {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height;
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
  return {0, 0, static_cast<int>(2 + random.below(7)), static_cast<int>(2 + random.below(7))};
}

void lower(std::atomic<int>& best, int area) noexcept {
  for (int now = best.load(); area < now && !best.compare_exchange_weak(now, area);) {
  }
}

template <class how>
void place(const plan& so_far, search& of) {
  if (so_far.count == of.cells) return lower(of.best, so_far.width * so_far.height);
  const rectangle next = cell(so_far.count);
  std::vector<plan> plans;
  for (const auto& [wide, high] : {std::pair{next.width, next.height}, std::pair{next.height, next.width}}) {
    const auto add = [&, width = wide, height = high](int x, int y) {
      const rectangle here{x, y, width, height};
      for (std::int64_t i = 0; i < so_far.count; ++i)
        if (here.meets(so_far.placed[index(i)])) return;
      plan more = so_far;
      more.placed[index(more.count++)] = here;
      more.width = std::max(more.width, x + width);
      more.height = std::max(more.height, y + height);
      if (more.width * more.height < of.best.load(std::memory_order_relaxed)) plans.push_back(more);
    };
    if (so_far.count == 0) add(0, 0);
    for (std::int64_t i = 0; i < so_far.count; ++i) {
      const rectangle& at = so_far.placed[index(i)];
      add(at.x + at.width, at.y);
      add(at.x, at.y + at.height);
    }
  }
  if (so_far.count >= task_depth) {
    for (const plan& each : plans) place<how>(each, of);
    return;
  }
  const auto later = [&of](const plan& with) { return [&of, with] { place<how>(with, of); }; };
  std::vector<decltype(how::async(later(so_far)))> tasks;
  for (const plan& each : plans) tasks.push_back(how::async(later(each)));
  get_all(tasks);
}

template <class how>
std::int64_t answer(std::int64_t cells) {
  search all{std::min(cells, most_cells), 1 << 20};
  place<how>({}, all);
  return all.best.load();
}

}  // namespace programs::floorplan

const programs::program programs::floorplan_program = {"floorplan", "cells, at most 16", 10, floorplan::answer<by_tasks>,
                                                       floorplan::answer<serially>};
