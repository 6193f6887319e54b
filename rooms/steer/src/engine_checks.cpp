// What the engine takes in and what it lets pass.
#include <algorithm>
#include <cmath>
#include <set>

#include "trimtab/steer/engine.hpp"

namespace trimtab::steer {

void engine::take_in(const snapshot& now) {
  m_events.clear();
  for (const subject_info& subject : now.appeared)
    if (appear(subject)) m_events.push_back(m_event_source.appear(subject.id));
  for (const decision_number number : now.not_applied) take_back(number);
  for (const subject_state& subject : now.subjects) measure(subject);
  m_event_source.add_drifts(now, m_events);
  for (const subject_id gone : now.gone) {
    if (m_subjects.erase(gone) == 0) continue;
    m_events.push_back(m_event_source.leave(gone));
    m_gone.insert(gone);
    for (member& told : m_members) {
      told.measured.erase(gone);
      told.gone.push_back(gone);
    }
  }
  m_event_source.add_cpus(now, m_events);
  m_events.insert(m_events.end(), now.events.begin(), now.events.end());
  for (member& each : m_members) {
    each.events.insert(each.events.end(), m_events.begin(), m_events.end());
    if (each.events.size() > most_kept)
      each.events.erase(each.events.begin(), each.events.end() - static_cast<std::ptrdiff_t>(most_kept));
  }
}

bool engine::appear(const subject_info& info) {
  const bool is_sound = std::all_of(info.knobs.begin(), info.knobs.end(), [](const knob& knob) {
    return knob.values.contains(knob.initial) && std::isfinite(knob.change_cost_s) && knob.change_cost_s >= 0;
  });
  if (!is_sound || m_subjects.contains(info.id)) return false;
  entry fresh;
  fresh.info = info;
  fresh.accepted = fresh.accepted_before = fresh.in_force = initial_values_of(info.knobs);
  m_subjects.emplace(info.id, std::move(fresh));
  return true;
}

void engine::measure(const subject_state& state) {
  const auto match = m_subjects.find(state.id);
  if (match == m_subjects.end()) return;
  entry& target = match->second;
  if (!state.figures.empty()) target.figures = state.figures;
  for (const measurement& taken : state.measured) {
    const bool is_sound = std::isfinite(taken.value) && taken.value >= 0 && std::isfinite(taken.seconds) &&
                          taken.seconds >= 0 && taken.under <= m_last_number;
    if (!is_sound) {
      m_counts.bad_measurements += 1;
      continue;
    }
    if (const auto trial_beside = m_trials.find(taken.beside);
        trial_beside != m_trials.end() && is_guarded(trial_beside->second)) {
      m_counts.beside_trials += 1;
      continue;
    }
    if (m_trials.contains(taken.under) && target.incumbent.is_known()) {
      m_budget.charge_trial(taken.under, taken.seconds, taken.value, target.incumbent.value());
    } else if (taken.under == target.since && !target.on_trial()) {
      target.incumbent.add(taken.value);
      target.incumbent.took(taken.seconds);
    }
    for (member& told : m_members) {
      if (!told.report.is_enabled) continue;
      std::vector<measurement>& kept = told.measured[state.id];
      // Half at once, so that a policy that is seldom called does not make each measurement dear.
      if (kept.size() == most_kept) kept.erase(kept.begin(), kept.begin() + most_kept / 2);
      kept.push_back(taken);
    }
  }
}

void engine::take_back(decision_number number) {
  for (auto& [id, each] : m_subjects) {
    if (each.since != number) continue;
    each.is_stuck = true;
    const int holder = each.holder;
    each.accepted = each.accepted_before;
    if (each.on_trial()) undo(each, "its owner could not apply it", holder);
    return;
  }
}

double engine::cost_of(const entry& target, const std::vector<change>& changes) const {
  double seconds = 0;
  for (const change& change : changes) seconds += target.info.knobs[change.knob].change_cost_s;
  return seconds;
}

engine::judgement engine::judge(int place, const proposal& wanted, std::string& reason) {
  const auto match = m_subjects.find(wanted.subject);
  if (match == m_subjects.end()) {
    if (m_gone.contains(wanted.subject)) {
      m_counts.gone += 1;
      return judgement::refused;
    }
    reason = "named subject " + std::to_string(wanted.subject) + ", which there is not";
    return judgement::nonsense;
  }
  if (!std::isfinite(wanted.gain.gain) || !std::isfinite(wanted.gain.uncertainty)) {
    reason = "told a gain that is no number";
    return judgement::nonsense;
  }
  const entry& target = match->second;
  const bool is_others = target.holder >= 0 && target.holder != place && !is_manual(place);
  if (is_others || (wanted.what == outcome::trial && is_beside_trial(target, place))) {
    m_counts.others += 1;
    return judgement::refused;
  }
  if (target.is_stuck) {
    m_counts.stuck += 1;
    return judgement::refused;
  }
  if (wanted.what == outcome::kept || wanted.what == outcome::undone) {
    if (!wanted.changes.empty()) {
      reason = "proposed changes together with an end of a trial";
      return judgement::nonsense;
    }
    if (target.on_trial() || (wanted.what == outcome::kept && !is_guarded(place))) return judgement::good;
    m_counts.nothing_to_do += 1;
    return judgement::refused;
  }
  if (wanted.what != outcome::trial && wanted.what != outcome::set) {
    reason = "proposed an outcome that there is not";
    return judgement::nonsense;
  }
  return judge_changes(place, target, wanted, reason);
}

engine::judgement engine::judge_changes(int place, const entry& target, const proposal& wanted, std::string& reason) {
  std::set<std::uint32_t> changed;
  std::vector<change> real;
  bool is_requested = false;
  for (const proposed_change& change : wanted.changes) {
    if (change.knob >= target.info.knobs.size() || !changed.insert(change.knob).second) {
      reason = "named knob " + std::to_string(change.knob) + " of " + target.info.name + ", which has " +
               std::to_string(target.info.knobs.size()) + " knobs, or named it twice";
      return judgement::nonsense;
    }
    const knob& turned = target.info.knobs[change.knob];
    if (!turned.values.contains(change.to)) {
      reason = "proposed " + turned.name + " = " + std::to_string(change.to) + " for " + target.info.name +
               ", which is outside its domain";
      return judgement::nonsense;
    }
    // What is on trial is undone before the user's values are set.
    const knob_value before = is_manual(place) ? target.accepted[change.knob] : target.in_force[change.knob];
    if (before == change.to && !wanted.is_released) continue;
    real.push_back({change.knob, before, change.to});
    is_requested = is_requested || turned.asks == consent::needed;
  }
  if (is_requested && !m_options.has_consent) {
    m_counts.consent += 1;
    return judgement::refused;
  }
  // A rule's change is accepted at once; what is on trial would be accepted with it, unproved.
  if (real.empty() || (m_is_last && is_guarded(place)) ||
      (wanted.what == outcome::set && target.on_trial() && !is_manual(place))) {
    m_counts.nothing_to_do += 1;
    return judgement::refused;
  }
  const bool is_search = m_members[static_cast<std::size_t>(place)].rule->is_search();
  if ((!is_search && wanted.what == outcome::set) || !is_guarded(place)) return judgement::good;
  // There and back.
  double needed = 2 * cost_of(target, real);
  if (wanted.what == outcome::trial) needed += target.incumbent.seconds() * m_options.expected_excess;
  // Without a level nothing could say what a trial costs.
  const bool is_measurable = wanted.what == outcome::set || target.incumbent.is_known();
  if (!is_measurable || needed >= m_budget.left_s(m_time_s)) {
    m_counts.budget += 1;
    return judgement::refused;
  }
  return judgement::good;
}

const subject_info* engine::subject(subject_id id) const noexcept {
  const auto match = m_subjects.find(id);
  return match == m_subjects.end() ? nullptr : &match->second.info;
}

std::vector<policy_report> engine::reports() const {
  std::vector<policy_report> all;
  all.reserve(m_members.size());
  for (const member& policy_member : m_members) all.push_back(policy_member.report);
  return all;
}

const subject_view* view::find(subject_id id) const noexcept {
  for (const subject_view& subject : subjects)
    if (subject.info.id == id) return &subject;
  return nullptr;
}

}  // namespace trimtab::steer
