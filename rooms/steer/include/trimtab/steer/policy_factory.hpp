// Policies in words, so that who builds an engine can write down of what, and another can build the same one again.
//   tuner search=diagnosed seed=1 leaves=blocktime,keep same-points=loops
//   fit tunables=calm_s=2,soon_s=5 knob=workers
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/settings.hpp"
#include "trimtab/steer/space.hpp"

namespace trimtab::steer {

// Options of the kinds; what is not given is as the kind has it.
//   by-hand                      sets what the user asks for
//   history                      sets what earlier runs found
//   tuner                        search, seed, leaves (subjects with one of these knobs are a rule's), same-points
//   message-tuner                the tuner for messages of a job: seed
//   arcs-online, arcs-offline,
//   shuffle, scheduler           seed
//   fit, asat-v1, asat-v2,
//   asat-v1-timed, asat-v2-reset tunables (tunables.hpp); of fit: knob
//   power-limit                  watts
//   queue-length, oversubscription, wait-policy, memory, placement
// Other kinds are of who builds the engine.
struct policy_description {
  std::string kind;
  struct option {
    std::string name, value;
    bool operator==(const option&) const = default;
  };
  std::vector<option> options = {};
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  bool operator==(const policy_description&) const = default;
};
std::string to_line(const policy_description& description);
std::optional<policy_description> policy_from_line(std::string_view line);

// What policies are given besides.
struct policy_context {
  std::vector<setting> settings = {};                                            // of earlier runs
  std::function<std::string(const subject_info&)> key_of = {};                   // as settings name it
  std::function<std::function<point(point)>(const subject_info&)> same_as = {};  // of tuners with same-points
};
struct made_policy {
  std::unique_ptr<policy> made;  // nullptr: there is no such kind, or not with these options
  std::string mistake;           // "": none. With a policy: a tunable that it goes without
};
made_policy make_policy(const policy_description& description, const policy_context& context);

}  // namespace trimtab::steer
