// A proof that another value of a knob is better, one measurement at a time: the two values take turns in random order, and
// each two measurements are a pair. For policies that know which value they want to try, and need no search.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/trial.hpp"

namespace trimtab::steer {

class value_proof {
 public:
  struct plan {
    std::uint32_t place = 0;  // of the knob among the subject's
    knob_value incumbent = 0, candidate = 0;
    std::string reason;
    std::vector<figure> evidence;
    trial_options test;
  };
  value_proof(plan given, random_source& random)
      : m_plan(std::move(given)), m_trial(m_plan.test), m_is_candidate_next(random.coin()) {}

  knob_value candidate() const noexcept { return m_plan.candidate; }
  // A measurement that began under what was to be in force. By the decision's number: what was far slower may have been
  // undone since, for the budget's sake.
  void take_in(const subject_view& subject, random_source& random);
  // What is to be in force until the next measurement, and, once judged, what comes of it. False: it is over, and `beaten`
  // has the value that lost; or somebody else has set the knob.
  bool go_on(std::set<knob_value>& beaten, const subject_view& subject, std::vector<proposal>& out);

 private:
  plan m_plan;
  paired_trial m_trial;
  bool m_is_candidate_next = false;
  std::optional<double> m_first;  // of the pair under way
  // What the next measurement is of: a trial was proposed, and that was the latest one before it; or else this decision.
  bool m_is_proposed = false;
  decision_number m_before = 0;
};

}  // namespace trimtab::steer
