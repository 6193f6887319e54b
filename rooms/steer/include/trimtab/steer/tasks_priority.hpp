// The priorities of kinds of task as knobs: the kinds of a chain are raised together if workers were idle until that chain
// had run, though a task of it could have run earlier and had no worker (the initiating tasks of idle regions that were
// eligible early, as published). Together, since a task that is raised gains nothing if what waits for it does not run.
// Kept only if fresh pairs prove that the program is faster.
//
// The evidence comes from whoever offers the knobs: from a trace (idle regions of `trimtab report`), or from the runtime.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/value_proof.hpp"

namespace trimtab::steer {

namespace figures {
// Followed by the kind. Of the workers' time: idle, until a task came whose chain of last inputs has a task of this kind,
inline constexpr std::string_view chain_share = "chain_share:";
// one that had waited for a worker.
inline constexpr std::string_view delayed_share = "delayed_share:";
}  // namespace figures

struct priority_options {
  std::uint64_t seed = 1;
  double alpha = 0.05;  // false acceptances of one subject, of all its proofs together
  double least_gain = 0.02;
  double least_share = 0.03;  // of the workers' time; less is not worth a trial
};

// For subjects with knobs of that name and a kind behind it, whose values are "low", "normal", "high": the tasks of a
// runtime, measured by the time of the whole.
class initiating_priority : public policy {
 public:
  static constexpr std::string_view knob = "priority:";
  static constexpr std::string_view raised = "high";

  explicit initiating_priority(priority_options options = {}) : m_options(options), m_random(options.seed) {}
  std::string_view name() const noexcept override { return "initiating-priority"; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct state_of_runtime {
    std::vector<std::vector<proposed_change>> beaten;
    unsigned proofs = 0;
    std::optional<value_proof> under_way;
  };
  void begin(state_of_runtime& kinds, const subject_view& subject);
  std::vector<proposed_change> wanted(const subject_view& subject, double& most_delayed) const;

  priority_options m_options;
  random_source m_random;
  std::map<subject_id, state_of_runtime> m_sessions;
};

}  // namespace trimtab::steer
