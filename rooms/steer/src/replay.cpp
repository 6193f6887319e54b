#include "trimtab/steer/replay.hpp"

#include <algorithm>

namespace trimtab::steer {

std::optional<replay_difference> replay(const recording& recorded, engine& steering, const replay_calls& calls) {
  for (std::size_t i = 0; i < recorded.steps.size(); ++i) {
    const recorded_step& next = recorded.steps[i];
    if (calls.before) calls.before(next);
    for (const decision& decision_made : steering.step(next.told)) {
      const bool is_applied =
          std::find(next.unapplied.begin(), next.unapplied.end(), decision_made.number) == next.unapplied.end();
      if (calls.decided) calls.decided(decision_made, next, is_applied);
    }
    if (steering.latest() != next.decided) return replay_difference{i, next.told.time_s, next.decided, steering.latest()};
  }
  return std::nullopt;
}

}  // namespace trimtab::steer
