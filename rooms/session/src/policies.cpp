#include "policies.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "trimtab/steer/manual_policy.hpp"
#include "trimtab/steer/memory_policy.hpp"
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
           {"leaves", std::string(steer::knobs::block_time) + "," + std::string(steer::knobs::keep_memory)},
           {"same-points", "loops"}}};
}

}  // namespace

steer::recording_head engine_of(const steering_options& chosen, std::vector<steer::setting> settings) {
  steer::engine_options options;
  options.budget_share = static_cast<double>(chosen.budget_percent) / 100;
  steer::recording_head head = steer::head_of(options);
  head.settings = std::move(settings);
  head.policies.push_back({std::string(steer::manual_policy::kind)});
  head.policies.push_back({"history"});
  // Shuffled threads are nobody else's.
  if (chosen.fits_threads() && chosen.how != tuning_mode::shuffle)
    head.policies.push_back({std::string(name_of(chosen.threads)), {{"tunables", std::string(chosen.thread_tunables)}}});
  if (chosen.how == tuning_mode::shuffle) head.policies.push_back({"shuffle", {{"seed", std::to_string(chosen.seed)}}});
  if (chosen.has_rules_of_ours()) head.policies.push_back({"placement"});
  if (chosen.how != tuning_mode::on) return head;
  head.policies.push_back(search_of(chosen));
  if (chosen.policy == steer_policy::tuner) {
    head.policies.push_back({"wait-policy"});
    head.policies.push_back({"memory"});
  }
  return head;
}

steer::made_policy make_policy(const description& description, const steer::policy_context& context,
                               const steer::outside_exchange& exchange) {
  if (description.kind != steer::outside_kind) return steer::make_policy(description, context);
  return {
      std::make_unique<steer::outside_policy>(std::string(description.find("name").value_or("")), exchange, context.key_of),
      ""};
}

}  // namespace trimtab::session
