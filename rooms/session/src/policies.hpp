// What a watched process's engine is built of, as the options ask for it: the same for a run and for its replay.
#pragma once

#include "options.hpp"
#include "trimtab/steer/outside_policy.hpp"
#include "trimtab/steer/recording.hpp"

namespace trimtab::session {

// known: of earlier runs.
steer::recording_head engine_of(const steering_options& chosen, std::vector<steer::setting> settings);

// Kinds of this room, and those of `steer`. with: how those outside are reached.
steer::made_policy make_policy(const steer::policy_description& description, const steer::policy_context& context,
                               const steer::outside_exchange& exchange);

}  // namespace trimtab::session
