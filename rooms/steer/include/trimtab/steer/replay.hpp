// An engine told again what another was told. The same policies and options decide the same; where they do not, one of them
// is another, or the recording is not what happened. Measurements are of the settings that were in force then: from the
// first decision on that differs they say nothing any more, so it ends there.
#pragma once

#include <functional>
#include <optional>

#include "trimtab/steer/recording.hpp"

namespace trimtab::steer {

struct replay_calls {
  std::function<void(const recorded_step& next)> before = {};
  // is_applied: as the recording says.
  std::function<void(const decision& made, const recorded_step& with, bool is_applied)> decided = {};
};

// A step that has another number of decisions than it had.
struct replay_difference {
  std::size_t step = 0;  // from 0
  double time_s = 0;
  decision_number recorded = 0, found = 0;  // of the latest decision
};

std::optional<replay_difference> replay(const recording& recorded, engine& steering, const replay_calls& calls = {});

}  // namespace trimtab::steer
