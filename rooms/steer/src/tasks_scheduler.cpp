#include "trimtab/steer/tasks_scheduler.hpp"

#include <cmath>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

// The first that is advised, can be had and was not beaten yet.
void scheduler_choice::begin(state_of_runtime& of, const subject_view& it, std::uint32_t place) {
  const domain& values = it.info.knobs[place].values;
  const std::vector<figure> figures(it.figures.begin(), it.figures.end());
  const auto workers = static_cast<std::uint32_t>(figure_or(figures, figures::workers, 0));
  for (const advice& each : advised_policies(values.text_of(it.accepted[place]), workers, figures)) {
    const std::optional<knob_value> value = values.value_of(each.policy);
    if (!value || *value == it.accepted[place] || of.beaten.contains(*value)) continue;
    // Each proof has half of what is left of alpha.
    trial_options how;
    how.alpha = m_options.alpha / std::exp2(++of.proofs);
    how.least_gain = m_options.least_gain;
    of.under_way = proof{it.accepted[place], *value, each.reason, figures, paired_trial(how), m_random.coin(), {}, false, 0};
    return;
  }
}

// A runtime that began under what was to be in force. By the decision's number: what was far slower may have been undone
// since, for the budget's sake.
void scheduler_choice::take_in(proof& of, const subject_view& it) {
  if (of.trial.judged() != verdict::open || (of.is_proposed && it.last_trial == of.before)) return;
  const decision_number under = of.is_proposed ? it.last_trial : of.before;
  for (const measurement& each : it.measured) {
    if (each.under != under || !(each.value > 0)) continue;
    if (!of.first) {
      of.first = each.value;
      of.is_candidate_next = !of.is_candidate_next;
    } else {
      const bool is_candidate = of.is_candidate_next;
      of.trial.add(is_candidate ? each.value : *of.first, is_candidate ? *of.first : each.value);
      of.first.reset();
      of.is_candidate_next = m_random.coin();
    }
    return;
  }
}

// What is to be in force until the next measurement, and, once judged, what comes of it.
bool scheduler_choice::go_on(proof& its, std::set<knob_value>& beaten, const subject_view& it, std::uint32_t place,
                             std::vector<proposal>& out) {
  const knob_value accepted = it.accepted[place];
  if (accepted != its.incumbent) {
    // Kept; or somebody else has set it.
    if (accepted == its.candidate) beaten.insert(its.incumbent);
    return false;
  }
  const verdict judged = its.trial.judged();
  const auto propose = [&](outcome what, const std::string& reason) -> proposal& {
    return out.emplace_back(proposal{it.info.id, what, {}, reason, its.evidence, {}});
  };
  if (judged == verdict::not_better) {
    if (it.in_force[place] != accepted) propose(outcome::undone, "no better: " + its.reason).gain = its.trial.gain();
    beaten.insert(its.candidate);
    return false;
  }
  // What is better has to be in force to be kept.
  const knob_value wanted = judged == verdict::better || its.is_candidate_next ? its.candidate : accepted;
  // Where there is no budget it is refused, and proposed again with the next runtime.
  its.is_proposed = it.in_force[place] != wanted;
  its.before = its.is_proposed ? it.last_trial : it.since;
  if (its.is_proposed) propose(outcome::trial, its.reason).changes = {{place, wanted}};
  if (judged == verdict::better) propose(outcome::kept, its.reason).gain = its.trial.gain();
  return true;
}

void scheduler_choice::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) m_sessions.erase(each);
  if (now.is_last) return;
  for (const subject_view& it : now.subjects) {
    const auto place = it.info.place_of(knob);
    if (!place || it.is_others) continue;
    state_of_runtime& of = m_sessions[it.info.id];
    if (of.under_way) take_in(*of.under_way, it);
    if (!of.under_way && it.has_level && !it.measured.empty()) begin(of, it, *place);
    if (of.under_way && !go_on(*of.under_way, of.beaten, it, *place, out)) of.under_way.reset();
  }
}

}  // namespace trimtab::steer
