// For the command, which is written in Python: arrays in, arrays out. python/trimtab/analysis/compiled.py has the same
// layouts.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "trimtab/diagnosis/blame.hpp"
#include "trimtab/diagnosis/critical_path.hpp"
#include "trimtab/diagnosis/replay.hpp"

namespace {

using namespace trimtab::diagnosis;

static_assert(sizeof(lane_interval) == 32 && offsetof(lane_interval, lane) == 16 && offsetof(lane_interval, kind) == 28);
static_assert(sizeof(blame_sum) == 32 && offsetof(blame_sum, culprit_kind) == 8 && offsetof(blame_sum, ns) == 16);
static_assert(sizeof(step) == 32 && offsetof(step, recorded_begin_ns) == 16 && offsetof(step, pool) == 24);
static_assert(sizeof(link) == 16 && offsetof(link, to) == 4 && offsetof(link, latency_ns) == 8);
static_assert(sizeof(path_part) == 24 && offsetof(path_part, begin_ns) == 8);

constexpr std::size_t failed = ~std::size_t{0};

struct interval_table {
  const lane_interval* intervals;
  std::size_t count;
  lane_index lanes;
  lane_order order() const { return {std::span(intervals, count), lanes}; }
};

// Lanes that serve pool 0 while they are there.
struct lane_life {
  std::int64_t begin_ns, end_ns;
};

struct pool_work {
  const step* steps;
  std::size_t step_count;
  const link* links;
  std::size_t link_count;
  const lane_life* lanes;
  std::size_t lane_count;

  // A lane comes with a step of its own, behind the given ones, which lasts until it is there.
  work program() const {
    work made{{steps, steps + step_count}, {links, links + link_count}, {}, 1};
    for (const link& item : made.links)
      if (item.from >= step_count || item.to >= step_count) throw std::invalid_argument("a link to a step that there is not");
    made.lanes.reserve(lane_count);
    for (const lane_life& life : std::span(lanes, lane_count)) {
      const auto birth = static_cast<step_index>(made.steps.size());
      made.steps.push_back({life.begin_ns, 0, 0, no_pool});
      made.lanes.push_back({{duty_kind::own_step, birth}, {duty_kind::serve_pool, 0, life.end_ns}});
    }
    return made;
  }
};

struct text_room {
  char* text;
  std::size_t bytes;
};

// How many results there are, of which as many as there is room for are copied; `failed`, and why, where there are none.
template <class Result, class Make>
std::size_t results(Make make, Result* to, std::size_t room, const text_room* error) noexcept {
  try {
    const std::vector<Result> made = make();
    std::copy_n(made.begin(), std::min(room, made.size()), to);
    return made.size();
  } catch (const std::exception& thrown) {
    std::snprintf(error->text, error->bytes, "%s", thrown.what());
    return failed;
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) std::size_t trimtab_blame(const interval_table* table, blame_sum* to,
                                                                 std::size_t room, const text_room* error) noexcept {
  return results([&] { return blame_by_group(table->order()); }, to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_critical_path(const interval_table* table, path_part* to,
                                                                         std::size_t room, const text_room* error) noexcept {
  return results([&] { return critical_path(table->order()); }, to, room, error);
}

// When each step begins, in nanoseconds.
__attribute__((visibility("default"))) std::size_t trimtab_replay_pool(const pool_work* given, std::int64_t* to,
                                                                       std::size_t room, const text_room* error) noexcept {
  const auto begins = [&] {
    std::string problem;
    std::optional<replayed> result = replay(given->program(), &problem);
    if (!result) throw std::runtime_error(problem);
    result->begin_ns.resize(given->step_count);
    return result->begin_ns;
  };
  return results(begins, to, room, error);
}
}
