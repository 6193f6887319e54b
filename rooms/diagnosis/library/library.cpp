// For the command, which is written in Python: arrays in, arrays out. python/trimtab/analysis/compiled.py has the same
// layouts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "trimtab/diagnosis/blame.hpp"
#include "trimtab/diagnosis/columns.hpp"
#include "trimtab/diagnosis/critical_path.hpp"
#include "trimtab/diagnosis/link_latency.hpp"
#include "trimtab/diagnosis/step_table.hpp"

namespace {

using namespace trimtab::diagnosis;

static_assert(sizeof(lane_interval) == 32 && offsetof(lane_interval, lane) == 16 && offsetof(lane_interval, kind) == 28);
static_assert(sizeof(blame_sum) == 32 && offsetof(blame_sum, culprit_kind) == 8 && offsetof(blame_sum, ns) == 16);
static_assert(sizeof(charge) == 32 && offsetof(charge, end) == 8 && offsetof(charge, begin_ns) == 16);
static_assert(sizeof(link_base) == 1);
static_assert(sizeof(path_part) == 24 && offsetof(path_part, begin_ns) == 8);

constexpr std::size_t failed = ~std::size_t{0};

struct interval_table {
  const lane_interval* intervals;
  std::size_t count;
  lane_index lanes;
  lane_order order() const { return {std::span(intervals, count), lanes}; }
};

struct charge_table {
  const lane_interval* intervals;
  std::size_t count;
  const charge* charges;
  std::size_t charge_count;
};

// Where there is room for charges and for parts of the critical path, and how many there are; and a place for each interval.
struct charge_and_path_room {
  charge* charges;
  std::size_t charge_room, charge_count;
  path_part* path;
  std::size_t path_room, path_count;
  interval_index* order;  // by lane and begin
};

// As many charges as there is room for are written.
std::size_t write_charges(const lane_order& order, charge* to, std::size_t room) {
  std::size_t count = 0;
  for_each_merged_charge(order, [&](const charge& merged) {
    if (count < room) to[count] = merged;
    ++count;
  });
  return count;
}

struct begun_step {
  std::int64_t begin_ns;
  lane_index lane;
};

// What a replay has found. Throws std::invalid_argument where it has found nothing.
template <class Result>
Result found_by(std::optional<Result> (*replaying)(const step_table&, std::string*), const step_table& table) {
  std::string problem;
  std::optional<Result> result = replaying(table, &problem);
  if (!result) throw std::invalid_argument(problem);
  return *std::move(result);
}

std::vector<begun_step> begun_steps(const step_table& table) {
  const auto result = found_by<replayed>(replay, table);
  std::vector<begun_step> steps;
  steps.reserve(table.count);
  for (std::size_t at = 0; at < table.count; ++at) steps.push_back({result.begin_ns[at], result.lane[at]});
  return steps;
}

// Rows by group and time, as python/trimtab/traces/compiled_columns.py has them.
struct group_table {
  const std::int64_t* time;
  std::size_t rows;
  const std::int64_t* first;
  std::size_t groups;
  grouped_times times() const { return {{time, rows}, {first, groups + 1}}; }
};

// Moments, each with its group; below 0: none.
struct moment_table {
  const std::int64_t* group;
  const std::int64_t* moment;
  std::size_t count;
};

struct number_table {
  const std::int32_t* kinds;
  const std::int64_t* numbers;
  std::size_t count;
};

struct text_room {
  char* text;
  std::size_t bytes;
};

std::size_t why_failed(const std::exception& thrown, const text_room* error) noexcept {
  std::snprintf(error->text, error->bytes, "%s", thrown.what());
  return failed;
}

// How many results there are, of which as many as there is room for are copied; `failed`, and why, where there are none.
template <class Result, class Make>
std::size_t results(Make make, Result* to, std::size_t room, const text_room* error) noexcept {
  try {
    const std::vector<Result> made = make();
    std::copy_n(made.begin(), std::min(room, made.size()), to);
    return made.size();
  } catch (const std::exception& thrown) {
    return why_failed(thrown, error);
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) std::size_t trimtab_blame(const interval_table* table, blame_sum* to,
                                                                 std::size_t room, const text_room* error) noexcept {
  return results([&] { return blame_by_group(table->order()); }, to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_charges(const interval_table* table, charge* to, std::size_t room,
                                                                   const text_room* error) noexcept {
  try {
    return write_charges(table->order(), to, room);
  } catch (const std::exception& thrown) {
    return why_failed(thrown, error);
  }
}

// Charges, the critical path, and the order of intervals that both need. `failed` where there are none; otherwise 0.
__attribute__((visibility("default"))) std::size_t trimtab_charges_and_path(const interval_table* table,
                                                                            charge_and_path_room* to,
                                                                            const text_room* error) noexcept {
  try {
    const lane_order order = table->order();
    std::ranges::copy(order.all(), to->order);
    const std::vector<path_part> path = critical_path(order);
    to->path_count = path.size();
    std::copy_n(path.begin(), std::min(to->path_room, path.size()), to->path);
    to->charge_count = write_charges(order, to->charges, to->charge_room);
    return 0;
  } catch (const std::exception& thrown) {
    return why_failed(thrown, error);
  }
}

__attribute__((visibility("default"))) std::size_t trimtab_blame_of_charges(const charge_table* table, blame_sum* to,
                                                                            std::size_t room,
                                                                            const text_room* error) noexcept {
  return results([&] { return sums_of_charges({table->intervals, table->count}, {table->charges, table->charge_count}); },
                 to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_critical_path(const interval_table* table, path_part* to,
                                                                         std::size_t room, const text_room* error) noexcept {
  return results([&] { return critical_path(table->order()); }, to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_replay(const step_table* table, begun_step* to, std::size_t room,
                                                                  const text_room* error) noexcept {
  return results([&] { return begun_steps(*table); }, to, room, error);
}

__attribute__((visibility("default"))) std::size_t trimtab_replay_end(const step_table* table, std::int64_t* to,
                                                                      std::size_t room, const text_room* error) noexcept {
  return results([&] { return std::vector{found_by<std::int64_t>(replayed_end_ns, *table)}; }, to, room, error);
}

// `to` has a place for each link.
__attribute__((visibility("default"))) void trimtab_link_latencies(const link_moments* links, std::int64_t* to) noexcept {
  write_latencies(*links, {to, links->count});
}

// Returns `failed` where memory is short.
__attribute__((visibility("default"))) std::size_t trimtab_order(const std::uint64_t* keys, std::size_t count,
                                                                 std::int64_t* to) noexcept {
  try {
    order_of({keys, count}, {to, count});
    return count;
  } catch (const std::exception&) {
    return failed;
  }
}

// `to` has a place for each moment.
__attribute__((visibility("default"))) std::size_t trimtab_sums_before(const moment_table* wanted,
                                                                       const std::int64_t* points, std::size_t count,
                                                                       std::int64_t* to) noexcept {
  try {
    sums_before({points, count}, {wanted->moment, wanted->count}, {to, wanted->count});
    return wanted->count;
  } catch (const std::exception&) {
    return failed;
  }
}

// How many different values there are, which are written where there is room for them; `failed` where there is none, or
// where memory is short.
__attribute__((visibility("default"))) std::size_t trimtab_number_few(const std::int64_t* values, std::size_t count,
                                                                      std::int64_t* places, std::int64_t* to,
                                                                      std::size_t room) noexcept {
  try {
    const auto different = number_few({values, count}, {places, count}, room);
    if (!different) return failed;
    std::ranges::copy(*different, to);
    return different->size();
  } catch (const std::exception&) {
    return failed;
  }
}

// How many rows there are, of which as many as there is room for are written.
__attribute__((visibility("default"))) std::size_t trimtab_largest_of_kinds(const number_table* table, std::size_t most,
                                                                            std::int64_t* to, std::size_t room) noexcept {
  try {
    const std::vector<std::int64_t> rows =
        largest_of_kinds({table->kinds, table->count}, {table->numbers, table->count}, most);
    std::copy_n(rows.begin(), std::min(room, rows.size()), to);
    return rows.size();
  } catch (const std::exception&) {
    return failed;
  }
}

// One row for each moment; one behind all rows where it has no group.
__attribute__((visibility("default"))) void trimtab_first_rows(const group_table* table, const moment_table* wanted,
                                                               std::uint32_t is_behind, std::int64_t* to) noexcept {
  const bound edge = is_behind != 0 ? bound::behind : bound::at_or_behind;
  for (std::size_t at = 0; at < wanted->count; ++at) {
    const std::int64_t group = wanted->group[at];
    to[at] = group < 0 ? table->first[table->groups]
                       : first_row(table->times(), static_cast<std::size_t>(group), wanted->moment[at], edge);
  }
}
}
