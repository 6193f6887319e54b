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
    choice.under_way.emplace(value_proof::plan{{{place, *value}}, advice.reason, figures, options}, subject, m_random);
    return;
  }
}

void scheduler_choice::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_sessions.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(knob);
    if (!place || subject.is_others) continue;
    state_of_runtime& choice = m_sessions[subject.info.id];
    if (choice.under_way) choice.under_way->take_in(subject, m_random);
    if (!choice.under_way && subject.has_level && !subject.measured.empty()) begin(choice, subject, *place);
    if (!choice.under_way) continue;
    const value_proof::state reached = choice.under_way->go_on(subject, out);
    if (reached == value_proof::state::open) continue;
    if (reached == value_proof::state::lost) choice.beaten.insert(choice.under_way->candidate()[0].to);
    if (reached == value_proof::state::kept) choice.beaten.insert(choice.under_way->incumbent()[0]);
    choice.under_way.reset();
  }
}

}  // namespace trimtab::steer
