#include "trimtab/steer/replay.hpp"

#include <algorithm>

namespace trimtab::steer {

std::optional<replay_difference> replay(const recording& of, engine& steering, const replay_calls& calls) {
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    const recorded_step& next = of.steps[i];
    if (calls.before) calls.before(next);
    for (const decision& made : steering.step(next.told)) {
      const bool is_applied = std::find(next.unapplied.begin(), next.unapplied.end(), made.number) == next.unapplied.end();
      if (calls.decided) calls.decided(made, next, is_applied);
    }
    if (steering.latest() != next.decided) return replay_difference{i, next.told.time_s, next.decided, steering.latest()};
  }
  return std::nullopt;
}

}  // namespace trimtab::steer
