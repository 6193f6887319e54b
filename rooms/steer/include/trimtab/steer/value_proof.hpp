// A proof that other values of some knobs are better, one measurement at a time: the two settings take turns in random
// order, and each two measurements are a pair. For policies that know which values they want to try, and need no search.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/trial.hpp"

namespace trimtab::steer {

class value_proof {
 public:
  struct plan {
    std::vector<proposed_change> candidate;
    std::string reason;
    std::vector<figure> evidence;
    trial_options test;
  };
  enum class state { open, kept, lost, changed_by_others };

  value_proof(plan given, const subject_view& subject, random_source& random);

  const std::vector<proposed_change>& candidate() const noexcept { return m_plan.candidate; }
  // The values of the same knobs before.
  const std::vector<knob_value>& incumbent() const noexcept { return m_incumbent; }
  // A measurement that began under what was to be in force. By the decision's number: what was far slower may have been
  // undone since, for the budget's sake.
  void take_in(const subject_view& subject, random_source& random);
  // What is to be in force until the next measurement, and, once judged, what comes of it.
  state go_on(const subject_view& subject, std::vector<proposal>& out);

 private:
  bool is_candidate(std::span<const knob_value> values) const noexcept;

  plan m_plan;
  std::vector<knob_value> m_incumbent;
  paired_trial m_trial;
  bool m_is_candidate_next = false;
  std::optional<double> m_first;  // of the pair under way
  // What the next measurement is of: a trial was proposed, and that was the latest one before it; or else this decision.
  bool m_is_proposed = false;
  decision_number m_before = 0;
};

}  // namespace trimtab::steer
