// Steps and links in columns of the caller's, as python/trimtab/analysis/compiled.py has them: replayed without a copy of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "trimtab/diagnosis/replay.hpp"

namespace trimtab::diagnosis {

// Steps of a lane are in the order in which it does them. Faster where links are in the order of the step that they come
// from, those from its begin first, and the shortest first.
struct step_table {
  std::size_t count;
  const std::int64_t *duration_ns, *lead_ns, *recorded_begin_ns;
  const lane_index* lane;     // that does the step; no_lane: a pool's, or a join
  const std::uint32_t* pool;  // from 1; 0: none. A lane's step with a pool: the lane takes steps of the pool before it.
  std::size_t link_count;
  const step_index *from, *to;
  const std::int64_t* latency_ns;
  const link_base* base;
  lane_index lanes, servers;           // the last `servers` of the lanes serve a pool when they have done their own steps
  const std::int64_t* server_ends_ns;  // from when on each of them begins no step of its pool; null: never
  const std::uint32_t* server_pools;   // the pool of each, from 1; null: the first one
};

// As `replay` of such a program. Throws std::invalid_argument where a step's lane or a link's step is not there.
std::optional<replayed> replay(const step_table& table, std::string* problem = nullptr);
// When the last step ends: takes less memory.
std::optional<std::int64_t> replayed_end_ns(const step_table& table, std::string* problem = nullptr);

}  // namespace trimtab::diagnosis
