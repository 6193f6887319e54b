// Which scheduling policy a runtime has: a knob that takes effect when the next one is made in its place, so that a
// measurement is a whole life of a runtime. What idle time, imbalance and steals speak for (tasks_advice.hpp) is tried, in
// turn with what there is, and kept only where fresh pairs prove it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/tasks_advice.hpp"
#include "trimtab/steer/value_proof.hpp"

namespace trimtab::steer {

struct scheduler_options {
  std::uint64_t seed = 1;
  double alpha = 0.05;  // false acceptances of one subject, of all its proofs together
  double least_gain = 0.02;
};

// For subjects with a knob of that name, whose values are names of policies. One value is tried against another once.
class scheduler_choice : public policy {
 public:
  static constexpr std::string_view knob = "scheduler";

  explicit scheduler_choice(scheduler_options options = {}) : m_options(options), m_random(options.seed) {}
  std::string_view name() const noexcept override { return "scheduler"; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct state_of_runtime {
    std::set<knob_value> beaten;  // by what was the incumbent then, or as the incumbent
    unsigned proofs = 0;
    std::optional<value_proof> under_way;
  };
  void begin(state_of_runtime& choice, const subject_view& subject, std::uint32_t place);

  scheduler_options m_options;
  random_source m_random;
  std::map<subject_id, state_of_runtime> m_sessions;
};

}  // namespace trimtab::steer
