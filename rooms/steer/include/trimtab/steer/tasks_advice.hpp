// What another scheduling policy might do for a program, from what a run of it has shown. Advice: nothing is proved by it.
// The policy of a runtime is fixed when it is made (its queues and its workers' loops are compiled for it), so that it is
// the next one that may have another (tasks_scheduler.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

struct advice {
  std::string policy;  // that might do better
  std::string reason;
};

// policy: that it has. of: figures of the whole run (tasks_figures.hpp): idle_share, imbalance, steal_share, queued_share,
// task_seconds. The likeliest first.
std::vector<advice> advised_policies(std::string_view policy, std::uint32_t workers, const std::vector<figure>& figures);
// The first of them.
std::optional<advice> advise_policy(std::string_view policy, std::uint32_t workers, const std::vector<figure>& figures);

}  // namespace trimtab::steer
