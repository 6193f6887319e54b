// What another scheduling policy might do for a program, from what its run has shown. Advice: the policy of a runtime is
// fixed when it is made (its queues and its workers' loops are compiled for it), so that nothing can be switched while it
// runs, and nothing is proved.
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

// policy: that it has. of: figures of the whole run (tasks_figures.hpp): idle_share, imbalance, steal_share, task_seconds.
std::optional<advice> advise_policy(std::string_view policy, std::uint32_t workers, const std::vector<figure>& of);

}  // namespace trimtab::steer
