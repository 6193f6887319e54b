// What the engine takes in and what it lets pass.
#include <algorithm>
#include <cmath>
#include <set>

#include "trimtab/steer/engine.hpp"

namespace trimtab::steer {

void engine::take_in(const snapshot& now) {
  m_events.clear();
  for (const subject_info& each : now.appeared)
    if (appear(each)) m_events.push_back(m_event_source.appear(each.id));
  for (const decision_number each : now.not_applied) take_back(each);
  for (const subject_state& subject : now.subjects) measure(subject);
  m_event_source.add_drifts(now, m_events);
  for (const subject_id each : now.gone) {
    if (m_subjects.erase(each) == 0) continue;
    m_events.push_back(m_event_source.leave(each));
    m_gone.insert(each);
    for (member& told : m_members) {
      told.measured.erase(each);
      told.gone.push_back(each);
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
  const bool is_sound = std::all_of(info.knobs.begin(), info.knobs.end(), [](const knob& each) {
    return each.values.contains(each.initial) && std::isfinite(each.change_cost_s) && each.change_cost_s >= 0;
  });
  if (!is_sound || m_subjects.contains(info.id)) return false;
  entry fresh;
  fresh.info = info;
  for (const knob& each : info.knobs) fresh.in_force.push_back(each.initial);
  fresh.accepted = fresh.accepted_before = fresh.in_force;
  m_subjects.emplace(info.id, std::move(fresh));
  return true;
}

void engine::measure(const subject_state& state) {
  const auto found = m_subjects.find(state.id);
  if (found == m_subjects.end()) return;
  entry& on = found->second;
  if (!state.figures.empty()) on.figures = state.figures;
  for (const measurement& each : state.measured) {
    const bool is_sound = std::isfinite(each.value) && each.value >= 0 && std::isfinite(each.seconds) && each.seconds >= 0 &&
                          each.under <= m_last_number;
    if (!is_sound) {
      m_counts.bad_measurements += 1;
      continue;
    }
    if (const auto beside = m_trials.find(each.beside); beside != m_trials.end() && is_guarded(beside->second)) {
      m_counts.beside_trials += 1;
      continue;
    }
    if (m_trials.contains(each.under) && on.incumbent.is_known()) {
      m_budget.charge_trial(each.under, each.seconds, each.value, on.incumbent.value());
    } else if (each.under == on.since && !on.on_trial()) {
      on.incumbent.add(each.value);
      on.incumbent.took(each.seconds);
    }
    for (member& told : m_members) {
      if (!told.report.is_enabled) continue;
      std::vector<measurement>& kept = told.measured[state.id];
      // Half at once, so that a policy that is seldom called does not make each measurement dear.
      if (kept.size() == most_kept) kept.erase(kept.begin(), kept.begin() + most_kept / 2);
      kept.push_back(each);
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

double engine::cost_of(const entry& on, const std::vector<change>& changes) const {
  double seconds = 0;
  for (const change& each : changes) seconds += on.info.knobs[each.knob].change_cost_s;
  return seconds;
}

engine::judgement engine::judge(int place, const proposal& what, std::string& why) {
  const auto found = m_subjects.find(what.subject);
  if (found == m_subjects.end()) {
    if (m_gone.contains(what.subject)) {
      m_counts.gone += 1;
      return judgement::refused;
    }
    why = "named subject " + std::to_string(what.subject) + ", which there is not";
    return judgement::nonsense;
  }
  if (!std::isfinite(what.gain.gain) || !std::isfinite(what.gain.uncertainty)) {
    why = "told a gain that is no number";
    return judgement::nonsense;
  }
  const entry& on = found->second;
  if ((on.holder >= 0 && on.holder != place) || (what.what == outcome::trial && is_beside_trial(on, place))) {
    m_counts.others += 1;
    return judgement::refused;
  }
  if (on.is_stuck) {
    m_counts.stuck += 1;
    return judgement::refused;
  }
  if (what.what == outcome::kept || what.what == outcome::undone) {
    if (!what.changes.empty()) {
      why = "proposed changes together with an end of a trial";
      return judgement::nonsense;
    }
    if (on.on_trial() || (what.what == outcome::kept && !is_guarded(place))) return judgement::good;
    m_counts.nothing_to_do += 1;
    return judgement::refused;
  }
  if (what.what != outcome::trial && what.what != outcome::set) {
    why = "proposed an outcome that there is not";
    return judgement::nonsense;
  }
  return judge_changes(place, on, what, why);
}

engine::judgement engine::judge_changes(int place, const entry& on, const proposal& what, std::string& why) {
  std::set<std::uint32_t> seen;
  std::vector<change> real;
  bool is_asked = false;
  for (const proposed_change& change : what.changes) {
    if (change.knob >= on.info.knobs.size() || !seen.insert(change.knob).second) {
      why = "named knob " + std::to_string(change.knob) + " of " + on.info.name + ", which has " +
            std::to_string(on.info.knobs.size()) + " knobs, or named it twice";
      return judgement::nonsense;
    }
    const knob& turned = on.info.knobs[change.knob];
    if (!turned.values.contains(change.to)) {
      why = "proposed " + turned.name + " = " + std::to_string(change.to) + " for " + on.info.name +
            ", which is outside its domain";
      return judgement::nonsense;
    }
    if (on.in_force[change.knob] == change.to) continue;
    real.push_back({change.knob, on.in_force[change.knob], change.to});
    is_asked = is_asked || turned.asks == consent::needed;
  }
  if (is_asked && !m_options.has_consent) {
    m_counts.consent += 1;
    return judgement::refused;
  }
  // A rule's change is accepted at once; what is on trial would be accepted with it, unproved.
  if (real.empty() || (m_is_last && is_guarded(place)) || (what.what == outcome::set && on.on_trial())) {
    m_counts.nothing_to_do += 1;
    return judgement::refused;
  }
  const bool is_search = m_members[static_cast<std::size_t>(place)].rule->is_search();
  if ((!is_search && what.what == outcome::set) || !is_guarded(place)) return judgement::good;
  // There and back.
  double needed = 2 * cost_of(on, real);
  if (what.what == outcome::trial) needed += on.incumbent.seconds() * m_options.expected_excess;
  // Without a level nothing could say what a trial costs.
  const bool is_measurable = what.what == outcome::set || on.incumbent.is_known();
  if (!is_measurable || needed >= m_budget.left_s(m_time_s)) {
    m_counts.budget += 1;
    return judgement::refused;
  }
  return judgement::good;
}

const subject_info* engine::subject(subject_id id) const noexcept {
  const auto found = m_subjects.find(id);
  return found == m_subjects.end() ? nullptr : &found->second.info;
}

std::vector<policy_report> engine::reports() const {
  std::vector<policy_report> all;
  all.reserve(m_members.size());
  for (const member& each : m_members) all.push_back(each.report);
  return all;
}

const subject_view* view::find(subject_id id) const noexcept {
  for (const subject_view& subject : subjects)
    if (subject.info.id == id) return &subject;
  return nullptr;
}

}  // namespace trimtab::steer
