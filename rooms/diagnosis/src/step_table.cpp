#include "trimtab/diagnosis/step_table.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "simulation.hpp"

namespace trimtab::diagnosis {

namespace {

std::string wrong(const char* what, std::size_t at, const char* expected, std::size_t limit, std::size_t found) {
  return std::string(what) + " " + std::to_string(at) + ": expected " + expected + std::to_string(limit) + ", found " +
         std::to_string(found);
}

void check_links(const step_table& table) {
  if (table.link_count > UINT32_MAX)
    throw std::invalid_argument("expected fewer links, found " + std::to_string(table.link_count));
  const auto last_of = [&](std::size_t at) { return std::max(table.from[at], table.to[at]); };
  step_index last = 0;
  for (std::size_t at = 0; at < table.link_count; ++at) last = std::max(last, last_of(at));
  if (table.link_count == 0 || last < table.count) return;
  for (std::size_t at = 0; at < table.link_count; ++at)
    if (last_of(at) >= table.count) throw std::invalid_argument(wrong("link", at, "steps below ", table.count, last_of(at)));
}

// What the lanes of a table do.
struct table_duties {
  pool_index pools = 1;
  std::vector<std::vector<duty>> lanes;

  explicit table_duties(const step_table& table) : lanes(table.lanes) {
    for (std::size_t at = 0; at < table.count; ++at) {
      const lane_index lane = table.lane[at];
      const std::uint32_t pool = table.pool[at];
      pools = std::max(pools, pool);
      if (lane == no_lane) continue;
      if (lane >= table.lanes) throw std::invalid_argument(wrong("step", at, "a lane below ", table.lanes, lane));
      if (pool != 0) lanes[lane].push_back({duty_kind::serve_pool, pool - 1});
      lanes[lane].push_back({duty_kind::own_step, static_cast<std::uint32_t>(at)});
    }
    const lane_index first = table.lanes - std::min(table.servers, table.lanes);
    for (lane_index at = first; at < table.lanes; ++at) {
      duty serving{duty_kind::serve_pool, 0};
      if (table.server_ends_ns != nullptr) serving.until_ns = table.server_ends_ns[at - first];
      if (table.server_pools != nullptr) serving.index = table.server_pools[at - first] - 1;
      if (serving.index >= pools) continue;  // it would find nothing to do
      lanes[at].push_back(serving);
    }
  }
};

simulation simulation_of(const step_table& table, const table_duties& duties) {
  check_links(table);
  const auto step_of = [&](std::size_t at) {
    const bool is_pooled = table.pool[at] != 0 && table.lane[at] == no_lane;
    return step{table.duration_ns[at], table.lead_ns[at], table.recorded_begin_ns[at],
                is_pooled ? table.pool[at] - 1 : no_pool};
  };
  const link_columns links{table.link_count, table.from, table.to, table.latency_ns, table.base};
  return {table.count, step_of, duties.lanes, duties.pools, links};
}

}  // namespace

std::optional<replayed> replay(const step_table& table, std::string* problem) {
  const table_duties duties(table);
  simulation run = simulation_of(table, duties);
  run.keep_begins();
  return run.run(problem) ? std::optional(std::move(run.result())) : std::nullopt;
}

std::optional<std::int64_t> replayed_end_ns(const step_table& table, std::string* problem) {
  const table_duties duties(table);
  simulation run = simulation_of(table, duties);
  return run.run(problem) ? std::optional(run.result().end_ns) : std::nullopt;
}

}  // namespace trimtab::diagnosis
