// What a program would take if something were different: its steps run again, on paper.
//
// A step is a piece of work without waiting inside. Some steps belong to a lane, which does them in their order. Others
// belong to a pool, and are taken by whichever lane serves the pool; a free lane takes the ready step that began first in
// the recorded run, so that the recorded order of queues is kept. A step begins when all steps that it is linked to have
// ended (or have come as far as the link says), and its lane is free.
//
// Pure. The cost is that of sorting the steps.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "trimtab/diagnosis/lane_interval.hpp"

namespace trimtab::diagnosis {

using step_index = std::uint32_t;
using pool_index = std::uint32_t;
inline constexpr pool_index no_pool = 0xffffffffu;

struct step {
  std::int64_t duration_ns = 0;
  std::int64_t lead_ns = 0;            // from when it could begin until it does: dispatch, wake-up
  std::int64_t recorded_begin_ns = 0;  // of steps of a pool: their order; faster if it numbers the steps, from 0
  pool_index pool = no_pool;
};

// What the latency of a link counts from. A step that makes others ready in the middle of its work has links from its begin.
enum class link_base : std::uint8_t { end = 0, begin = 1 };

// `to` begins `latency_ns` after `from` has ended or begun, or later.
struct link {
  step_index from = 0, to = 0;
  std::int64_t latency_ns = 0;
  link_base base = link_base::end;
};

// What a lane does next: a step of its own, or steps of a pool until all steps of the pool have begun, or until the lane
// is gone.
enum class duty_kind : std::uint8_t { own_step, serve_pool };
struct duty {
  duty_kind kind = duty_kind::own_step;
  std::uint32_t index = 0;                                           // of the step, or of the pool
  std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();  // of serve_pool: no step is begun from then on
};

// Steps that are no lane's duty and belong to no pool take no lane: they join others, as a barrier does.
struct work {
  std::vector<step> steps;
  std::vector<link> links;
  std::vector<std::vector<duty>> lanes;
  pool_index pools = 0;
};

struct replayed {
  std::int64_t end_ns = 0;             // of the last step; the first duties begin at 0
  std::vector<std::int64_t> begin_ns;  // of each step
  std::vector<lane_index> lane;        // of each step; no_lane: none
};

// Empty where some steps never begin, since they wait for each other, or nobody serves their pool: `problem` then says
// which.
std::optional<replayed> replay(const work& program, std::string* problem = nullptr);

}  // namespace trimtab::diagnosis
