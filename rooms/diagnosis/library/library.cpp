// For the command, which is written in Python: arrays in, arrays out. python/trimtab/analysis/compiled.py has the same
// layouts.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "trimtab/diagnosis/blame.hpp"
#include "trimtab/diagnosis/critical_path.hpp"

namespace {

using namespace trimtab::diagnosis;

static_assert(sizeof(lane_interval) == 32 && offsetof(lane_interval, lane) == 16 && offsetof(lane_interval, kind) == 28);
static_assert(sizeof(blame_sum) == 32 && offsetof(blame_sum, culprit_kind) == 8 && offsetof(blame_sum, ns) == 16);
static_assert(sizeof(charge) == 32 && offsetof(charge, end) == 8 && offsetof(charge, begin_ns) == 16);
static_assert(sizeof(path_part) == 24 && offsetof(path_part, begin_ns) == 8);

constexpr std::size_t failed = ~std::size_t{0};

struct interval_table {
  const lane_interval* intervals;
  std::size_t count;
  lane_index lanes;
  lane_order order() const { return {std::span(intervals, count), lanes}; }
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

__attribute__((visibility("default"))) std::size_t trimtab_charges(const interval_table* table, charge* to,
                                                                   std::size_t room, const text_room* error) noexcept {
  return results([&] { return merged_charges(table->order()); }, to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_critical_path(const interval_table* table, path_part* to,
                                                                         std::size_t room, const text_room* error) noexcept {
  return results([&] { return critical_path(table->order()); }, to, room, error);
}
}
