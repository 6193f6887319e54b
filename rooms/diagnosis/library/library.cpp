// For the command, which is written in Python: arrays in, arrays out. python/trimtab/analysis/compiled.py has the same
// layouts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "trimtab/diagnosis/blame.hpp"
#include "trimtab/diagnosis/columns.hpp"
#include "trimtab/diagnosis/critical_path.hpp"
#include "trimtab/diagnosis/replay.hpp"

namespace {

using namespace trimtab::diagnosis;

static_assert(sizeof(lane_interval) == 32 && offsetof(lane_interval, lane) == 16 && offsetof(lane_interval, kind) == 28);
static_assert(sizeof(blame_sum) == 32 && offsetof(blame_sum, culprit_kind) == 8 && offsetof(blame_sum, ns) == 16);
static_assert(sizeof(charge) == 32 && offsetof(charge, end) == 8 && offsetof(charge, begin_ns) == 16);
static_assert(sizeof(link) == 24 && offsetof(link, latency_ns) == 8 && offsetof(link, base) == 16);
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

// A step of a lane, of a pool, or of neither. A lane's step with a pool: the lane takes steps of the pool before it.
struct placed_step {
  std::int64_t duration_ns, lead_ns, recorded_begin_ns;
  lane_index lane;     // no_lane: a pool's, or a join
  std::uint32_t pool;  // from 1; 0: none
};

struct step_table {
  const placed_step* steps;
  std::size_t count;
  const link* links;
  std::size_t link_count;
  lane_index lanes, servers;           // the last `servers` of the lanes serve a pool when they have done their own steps
  const std::int64_t* server_ends_ns;  // from when on each of them begins no step of its pool; null: never
  const std::uint32_t* server_pools;   // the pool of each, from 1; null: the first one

  // Without the links, which are long.
  work program() const {
    work made;
    made.pools = 1;
    for (std::size_t at = 0; at < count; ++at) made.pools = std::max(made.pools, steps[at].pool);
    made.lanes.resize(lanes);
    made.steps.reserve(count);
    for (std::size_t at = 0; at < count; ++at) {
      const placed_step& item = steps[at];
      const bool is_pooled = item.pool != 0 && item.lane == no_lane;
      made.steps.push_back({item.duration_ns, item.lead_ns, item.recorded_begin_ns, is_pooled ? item.pool - 1 : no_pool});
      if (item.lane == no_lane) continue;
      if (item.lane >= lanes) throw std::invalid_argument(wrong("step", at, "a lane below ", lanes, item.lane));
      if (item.pool != 0) made.lanes[item.lane].push_back({duty_kind::serve_pool, item.pool - 1});
      made.lanes[item.lane].push_back({duty_kind::own_step, static_cast<std::uint32_t>(at)});
    }
    for (std::size_t at = 0; at < link_count; ++at)
      if (const auto last = std::max(links[at].from, links[at].to); last >= count)
        throw std::invalid_argument(wrong("link", at, "steps below ", count, last));
    const lane_index first = lanes - std::min(servers, lanes);
    for (lane_index at = first; at < lanes; ++at) {
      duty serving{duty_kind::serve_pool, 0};
      if (server_ends_ns != nullptr) serving.until_ns = server_ends_ns[at - first];
      if (server_pools != nullptr) serving.index = server_pools[at - first] - 1;
      if (serving.index >= made.pools) continue;  // it would find nothing to do
      made.lanes[at].push_back(serving);
    }
    return made;
  }

 private:
  static std::string wrong(const char* what, std::size_t at, const char* expected, std::size_t limit, std::size_t found) {
    return std::string(what) + " " + std::to_string(at) + ": expected " + expected + std::to_string(limit) + ", found " +
           std::to_string(found);
  }
};

struct begun_step {
  std::int64_t begin_ns;
  lane_index lane;
};

replayed replayed_of(const step_table& table) {
  std::string problem;
  auto result = replay(table.program(), {table.links, table.link_count}, &problem);
  if (!result) throw std::invalid_argument(problem);
  return *std::move(result);
}

std::vector<begun_step> begun_steps(const step_table& table) {
  const replayed result = replayed_of(table);
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

__attribute__((visibility("default"))) std::size_t trimtab_charges(const interval_table* table, charge* to, std::size_t room,
                                                                   const text_room* error) noexcept {
  return results([&] { return merged_charges(table->order()); }, to, room, error);
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
  return results([&] { return std::vector{replayed_of(*table).end_ns}; }, to, room, error);
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
