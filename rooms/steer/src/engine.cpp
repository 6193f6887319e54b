#include "trimtab/steer/engine.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

namespace trimtab::steer {

engine::engine(engine_options options)
    : m_options(std::move(options)), m_budget(m_options.budget_share, m_options.allowance_s) {}

void engine::add(std::unique_ptr<policy> added) {
  member fresh;
  fresh.report.name = added->name();
  fresh.when = added->when();
  fresh.rule = std::move(added);
  m_members.push_back(std::move(fresh));
}

const std::vector<decision>& engine::step(const snapshot& now) {
  m_decisions.clear();
  m_slow.clear();
  if (std::isfinite(now.time_s) && now.time_s > m_time_s) m_time_s = now.time_s;
  m_is_last = now.is_last;
  take_in(now);
  if (m_budget.left_s(m_time_s) <= 0)
    for (int place = 0; place < static_cast<int>(m_members.size()); ++place)
      if (is_guarded(place)) undo_trials("the budget of search is spent", place);
  for (int place = 0; place < static_cast<int>(m_members.size()); ++place) {
    member& each = m_members[static_cast<std::size_t>(place)];
    if (!each.report.is_enabled) continue;
    const bool is_overdue = std::find(now.overdue.begin(), now.overdue.end(), each.report.name) != now.overdue.end();
    if (is_overdue)
      disable(place, "took too long");
    else if (is_due(each))
      call(place, now);
  }
  if (m_is_last) undo_trials("the run ends", -1);
  return m_decisions;
}

bool engine::is_due(const member& which) const {
  if (m_is_last) return true;
  return (which.when.is_periodic() && m_time_s >= which.next_s) || which.when.is_triggered_by(m_events);
}

void engine::call(int place, const snapshot& now) {
  member& called = m_members[static_cast<std::size_t>(place)];
  std::vector<subject_view> subjects;
  subjects.reserve(m_subjects.size());
  for (const auto& [id, each] : m_subjects) {
    if (each.is_stuck) continue;
    const std::vector<measurement>& measured = called.measured[id];
    subjects.push_back({each.info, each.in_force, each.accepted, each.since, each.last_trial, measured, each.figures,
                        (each.holder >= 0 && each.holder != place) || is_beside_trial(each, place),
                        each.incumbent.is_known()});
  }
  view seen{m_time_s,    m_is_last,    m_budget.left_s(m_time_s), m_options.has_consent, subjects, called.gone,
            now.figures, called.events};
  std::vector<proposal> proposals;
  std::string fault;
  const double begin = m_options.clock ? m_options.clock() : 0;
  m_running.store(called.report.name.c_str(), std::memory_order_release);
  try {
    called.rule->observe(seen, proposals);
  } catch (const std::exception& error) {
    fault = std::string("threw: ") + error.what();
  } catch (...) {
    fault = "threw something";
  }
  m_running.store(nullptr, std::memory_order_release);
  called.report.calls += 1;
  called.next_s = m_time_s + called.when.period_s;
  called.measured.clear();
  called.events.clear();
  called.gone.clear();
  if (fault.empty() && m_options.clock && m_options.clock() - begin > m_options.policy_limit_s) {
    fault = "took too long";
    m_slow.push_back(called.report.name);
  }
  if (!fault.empty()) return disable(place, std::move(fault));
  for (const proposal& each : proposals) {
    std::string why;
    const judgement found = judge(place, each, why);
    if (found == judgement::nonsense) return disable(place, std::move(why));
    if (found == judgement::good) carry_out(place, each);
    called.report.refused += found == judgement::refused;
  }
}

void engine::disable(int place, std::string why) {
  policy_report& report = m_members[static_cast<std::size_t>(place)].report;
  report.is_enabled = false;
  report.why_disabled = std::move(why);
  undo_trials("policy " + report.name + " is disabled: it " + report.why_disabled, place);
  for (auto& [id, each] : m_subjects)
    if (each.holder == place) each.holder = -1;
}

bool engine::is_beside_trial(const entry& which, int place) const {
  return which.info.group != 0 && std::any_of(m_subjects.begin(), m_subjects.end(), [&](const auto& each) {
           const entry& other = each.second;
           return &other != &which && other.info.group == which.info.group && other.on_trial() &&
                  (other.holder != place || is_guarded(place));
         });
}

bool engine::is_guarded(int place) const { return m_members[static_cast<std::size_t>(place)].rule->is_guarded(); }

void engine::undo_trials(const std::string& why, int place) {
  for (auto& [id, each] : m_subjects)
    if (each.on_trial() && (place < 0 || each.holder == place)) undo(each, why, each.holder);
}

void engine::undo(entry& on, std::string why, int place) {
  std::vector<change> changes;
  for (std::uint32_t i = 0; i < on.in_force.size(); ++i)
    if (on.in_force[i] != on.accepted[i]) changes.push_back({i, on.in_force[i], on.accepted[i]});
  m_budget.charge_change(cost_of(on, changes));
  decide(on, outcome::undone, std::move(changes), place, std::move(why));
}

void engine::carry_out(int place, const proposal& what) {
  entry& on = m_subjects.at(what.subject);
  const bool is_search = m_members[static_cast<std::size_t>(place)].rule->is_search();
  on.holder = is_search || what.what == outcome::trial ? place : -1;
  m_members[static_cast<std::size_t>(place)].report.decisions += 1;
  if (what.what == outcome::undone) {
    undo(on, what.reason, place);
  } else {
    std::vector<change> changes;
    if (what.what == outcome::kept) {
      // Of a search that found what the program does by itself to be best, all is told, so that it is remembered.
      const bool is_confirmed = !on.on_trial();
      for (std::uint32_t i = 0; i < on.in_force.size(); ++i)
        if (is_confirmed || on.in_force[i] != on.accepted[i]) changes.push_back({i, on.accepted[i], on.in_force[i]});
    } else {
      for (const proposed_change& change : what.changes)
        if (on.in_force[change.knob] != change.to) changes.push_back({change.knob, on.in_force[change.knob], change.to});
      if (on.holder >= 0) m_budget.charge_change(cost_of(on, changes));
    }
    decide(on, what.what, std::move(changes), place, what.reason);
  }
  m_decisions.back().evidence = what.evidence;
  m_decisions.back().gain = what.gain;
}

decision& engine::decide(entry& on, outcome what, std::vector<change> changes, int place, std::string reason) {
  constexpr std::size_t most_trials = 1024;
  if (what != outcome::undone && what != outcome::kept)
    for (const change& each : changes) on.in_force[each.knob] = each.to;
  on.accepted_before = on.accepted;
  if (what == outcome::undone) on.in_force = on.accepted;
  if (what == outcome::kept || what == outcome::set) {
    on.accepted = on.in_force;
    on.incumbent.forget();
  }
  on.since = ++m_last_number;
  if (what == outcome::trial) on.last_trial = on.since;
  // A candidate that is what was accepted is on nobody's account, and disturbs nobody beside it.
  if (what == outcome::trial && on.on_trial()) m_trials.emplace(on.since, on.holder);
  if (m_trials.size() > most_trials) m_trials.erase(m_trials.begin());
  decision made;
  made.number = on.since;
  made.time_s = m_time_s;
  made.subject = on.info.id;
  made.what = what;
  made.changes = std::move(changes);
  if (place >= 0) made.policy = m_members[static_cast<std::size_t>(place)].report.name;
  made.reason = std::move(reason);
  m_decisions.push_back(std::move(made));
  return m_decisions.back();
}

}  // namespace trimtab::steer
