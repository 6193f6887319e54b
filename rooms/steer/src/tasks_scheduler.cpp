#include "trimtab/steer/tasks_scheduler.hpp"

#include <cmath>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

// The first that is advised, can be had and was not beaten yet.
void scheduler_choice::begin(state_of_runtime& choice, const subject_view& subject, std::uint32_t place) {
  const domain& values = subject.info.knobs[place].values;
  const std::vector<figure> figures(subject.figures.begin(), subject.figures.end());
  const auto workers = static_cast<std::uint32_t>(figure_or(figures, figures::workers, 0));
  for (const advice& advice : advised_policies(values.text_of(subject.accepted[place]), workers, figures)) {
    const std::optional<knob_value> value = values.value_of(advice.policy);
    if (!value || *value == subject.accepted[place] || choice.beaten.contains(*value)) continue;
    // Each proof has half of what is left of alpha.
    trial_options options;
    options.alpha = m_options.alpha / std::exp2(++choice.proofs);
    options.least_gain = m_options.least_gain;
    choice.under_way =
        proof{subject.accepted[place], *value, advice.reason, figures, paired_trial(options), m_random.coin(), {}, false, 0};
    return;
  }
}

// A runtime that began under what was to be in force. By the decision's number: what was far slower may have been undone
// since, for the budget's sake.
void scheduler_choice::take_in(proof& trial_of_policy, const subject_view& subject) {
  if (trial_of_policy.trial.judged() != verdict::open ||
      (trial_of_policy.is_proposed && subject.last_trial == trial_of_policy.before))
    return;
  const decision_number decision_number_awaited = trial_of_policy.is_proposed ? subject.last_trial : trial_of_policy.before;
  for (const measurement& measurement : subject.measured) {
    if (measurement.under != decision_number_awaited || !(measurement.value > 0)) continue;
    if (!trial_of_policy.first) {
      trial_of_policy.first = measurement.value;
      trial_of_policy.is_candidate_next = !trial_of_policy.is_candidate_next;
    } else {
      const bool is_candidate = trial_of_policy.is_candidate_next;
      trial_of_policy.trial.add(is_candidate ? measurement.value : *trial_of_policy.first,
                                is_candidate ? *trial_of_policy.first : measurement.value);
      trial_of_policy.first.reset();
      trial_of_policy.is_candidate_next = m_random.coin();
    }
    return;
  }
}

// What is to be in force until the next measurement, and, once judged, what comes of it.
bool scheduler_choice::go_on(proof& trial_of_policy, std::set<knob_value>& beaten, const subject_view& subject,
                             std::uint32_t place, std::vector<proposal>& out) {
  const knob_value accepted = subject.accepted[place];
  if (accepted != trial_of_policy.incumbent) {
    // Kept; or somebody else has set it.
    if (accepted == trial_of_policy.candidate) beaten.insert(trial_of_policy.incumbent);
    return false;
  }
  const verdict judged = trial_of_policy.trial.judged();
  const auto propose = [&](outcome result_kind, const std::string& reason) -> proposal& {
    return out.emplace_back(proposal{subject.info.id, result_kind, {}, reason, trial_of_policy.evidence, {}});
  };
  if (judged == verdict::not_better) {
    if (subject.in_force[place] != accepted)
      propose(outcome::undone, "no better: " + trial_of_policy.reason).gain = trial_of_policy.trial.gain();
    beaten.insert(trial_of_policy.candidate);
    return false;
  }
  // What is better has to be in force to be kept.
  const knob_value wanted =
      judged == verdict::better || trial_of_policy.is_candidate_next ? trial_of_policy.candidate : accepted;
  // Where there is no budget it is refused, and proposed again with the next runtime.
  trial_of_policy.is_proposed = subject.in_force[place] != wanted;
  trial_of_policy.before = trial_of_policy.is_proposed ? subject.last_trial : subject.since;
  if (trial_of_policy.is_proposed) propose(outcome::trial, trial_of_policy.reason).changes = {{place, wanted}};
  if (judged == verdict::better) propose(outcome::kept, trial_of_policy.reason).gain = trial_of_policy.trial.gain();
  return true;
}

void scheduler_choice::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_sessions.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(knob);
    if (!place || subject.is_others) continue;
    state_of_runtime& choice = m_sessions[subject.info.id];
    if (choice.under_way) take_in(*choice.under_way, subject);
    if (!choice.under_way && subject.has_level && !subject.measured.empty()) begin(choice, subject, *place);
    if (choice.under_way && !go_on(*choice.under_way, choice.beaten, subject, *place, out)) choice.under_way.reset();
  }
}

}  // namespace trimtab::steer
