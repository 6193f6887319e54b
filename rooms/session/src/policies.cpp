#include "policies.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::session {

namespace {

using description = steer::policy_description;

description search_of(const steering_options& chosen) {
  const std::string seed = std::to_string(chosen.seed);
  if (chosen.policy == steer_policy::outside) {
    const char* const slash = std::strrchr(chosen.policy_file, '/');
    return {std::string(steer::outside_kind), {{"name", slash == nullptr ? chosen.policy_file : slash + 1}}};
  }
  std::string kind(name_of(chosen.policy));
  if (chosen.policy != steer_policy::tuner) return {std::move(kind), {{"seed", seed}}};
  return {std::move(kind),
          {{"search", std::string(steer::name_of(chosen.search))},
           {"seed", seed},
           {"leaves", std::string(steer::knobs::block_time)},
           {"same-points", "loops"}}};
}

}  // namespace

steer::recording_head engine_of(const steering_options& chosen, std::vector<steer::setting> known) {
  steer::engine_options options;
  options.budget_share = static_cast<double>(chosen.budget_percent) / 100;
  steer::recording_head made = steer::head_of(options);
  made.settings = std::move(known);
  made.policies.push_back({"history"});
  // Shuffled threads are nobody else's.
  if (chosen.fits_threads() && chosen.how != tuning_mode::shuffle)
    made.policies.push_back({std::string(name_of(chosen.threads)), {{"tunables", std::string(chosen.thread_tunables)}}});
  if (chosen.how == tuning_mode::shuffle) made.policies.push_back({"shuffle", {{"seed", std::to_string(chosen.seed)}}});
  if (chosen.has_rules_of_ours()) made.policies.push_back({"placement"});
  if (chosen.how != tuning_mode::on) return made;
  made.policies.push_back(search_of(chosen));
  if (chosen.policy == steer_policy::tuner) made.policies.push_back({"wait-policy"});
  return made;
}

steer::made_policy make_policy(const description& of, const steer::policy_context& context,
                               const steer::outside_exchange& with) {
  if (of.kind != steer::outside_kind) return steer::make_policy(of, context);
  return {std::make_unique<steer::outside_policy>(std::string(of.find("name").value_or("")), with, context.key_of), ""};
}

}  // namespace trimtab::session
