#include "trimtab/steer/engine.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "trimtab/observe/words.hpp"

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
    member& called = m_members[static_cast<std::size_t>(place)];
    if (!called.report.is_enabled) continue;
    const bool is_overdue = std::find(now.overdue.begin(), now.overdue.end(), called.report.name) != now.overdue.end();
    if (is_overdue)
      disable(place, "took too long");
    else if (is_due(called))
      call(place, now);
  }
  if (m_is_last) undo_trials("the run ends", -1);
  return m_decisions;
}

bool engine::is_due(const member& policy_member) const {
  if (m_is_last) return true;
  return (policy_member.when.is_periodic() && m_time_s >= policy_member.next_s) ||
         policy_member.when.is_triggered_by(m_events);
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
  view view_now{m_time_s,    m_is_last,    m_budget.left_s(m_time_s), m_options.has_consent, subjects, called.gone,
                now.figures, called.events};
  std::vector<proposal> proposals;
  std::string fault;
  const double begin = m_options.clock ? m_options.clock() : 0;
  m_running.store(called.report.name.c_str(), std::memory_order_release);
  try {
    called.rule->observe(view_now, proposals);
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
  for (const proposal& wanted : proposals) {
    std::string reason;
    const judgement verdict = judge(place, wanted, reason);
    if (verdict == judgement::nonsense) return disable(place, std::move(reason));
    if (verdict == judgement::good) carry_out(place, wanted);
    called.report.refused += verdict == judgement::refused;
  }
}

void engine::disable(int place, std::string reason) {
  policy_report& report = m_members[static_cast<std::size_t>(place)].report;
  report.is_enabled = false;
  report.why_disabled = std::move(reason);
  undo_trials("policy " + report.name + " is disabled: it " + report.why_disabled, place);
  for (auto& [id, each] : m_subjects)
    if (each.holder == place) each.holder = -1;
}

bool engine::is_beside_trial(const entry& candidate, int place) const {
  return candidate.info.group != 0 && std::any_of(m_subjects.begin(), m_subjects.end(), [&](const auto& known) {
           const entry& other = known.second;
           return &other != &candidate && other.info.group == candidate.info.group && other.on_trial() &&
                  (other.holder != place || is_guarded(place));
         });
}

bool engine::is_guarded(int place) const { return m_members[static_cast<std::size_t>(place)].rule->is_guarded(); }

bool engine::is_manual(int place) const { return m_members[static_cast<std::size_t>(place)].rule->is_manual(); }

void engine::take_over(entry& target) {
  for (auto& [id, each] : m_subjects) {
    const bool is_of_group = target.info.group != 0 && each.info.group == target.info.group;
    if ((&each == &target || is_of_group) && each.on_trial())
      undo(each, observe::words::decision_reason::set_by_hand, each.holder);
  }
}

void engine::undo_trials(const std::string& reason, int place) {
  for (auto& [id, each] : m_subjects)
    if (each.on_trial() && (place < 0 || each.holder == place)) undo(each, reason, each.holder);
}

void engine::undo(entry& target, std::string reason, int place) {
  std::vector<change> changes;
  for (std::uint32_t i = 0; i < target.in_force.size(); ++i)
    if (target.in_force[i] != target.accepted[i]) changes.push_back({i, target.in_force[i], target.accepted[i]});
  m_budget.charge_change(cost_of(target, changes));
  decide(target, outcome::undone, std::move(changes), place, std::move(reason));
}

void engine::carry_out(int place, const proposal& wanted) {
  entry& target = m_subjects.at(wanted.subject);
  const bool is_search = m_members[static_cast<std::size_t>(place)].rule->is_search();
  const bool is_kept_by_user = is_manual(place) && !wanted.is_released;
  if (is_manual(place)) take_over(target);
  target.holder = is_search || is_kept_by_user || wanted.what == outcome::trial ? place : -1;
  m_members[static_cast<std::size_t>(place)].report.decisions += 1;
  if (wanted.what == outcome::undone) {
    undo(target, wanted.reason, place);
  } else {
    std::vector<change> changes;
    if (wanted.what == outcome::kept) {
      // Of a search that found what the program does by itself to be best, all is told, so that it is remembered.
      const bool is_confirmed = !target.on_trial();
      for (std::uint32_t i = 0; i < target.in_force.size(); ++i)
        if (is_confirmed || target.in_force[i] != target.accepted[i])
          changes.push_back({i, target.accepted[i], target.in_force[i]});
    } else {
      for (const proposed_change& change : wanted.changes)
        if (target.in_force[change.knob] != change.to)
          changes.push_back({change.knob, target.in_force[change.knob], change.to});
      if (target.holder >= 0 && !is_kept_by_user) m_budget.charge_change(cost_of(target, changes));
    }
    decide(target, wanted.what, std::move(changes), place, wanted.reason);
  }
  m_decisions.back().evidence = wanted.evidence;
  m_decisions.back().gain = wanted.gain;
}

decision& engine::decide(entry& target, outcome result_kind, std::vector<change> changes, int place, std::string reason) {
  constexpr std::size_t most_trials = 1024;
  if (result_kind != outcome::undone && result_kind != outcome::kept)
    for (const change& change : changes) target.in_force[change.knob] = change.to;
  target.accepted_before = target.accepted;
  if (result_kind == outcome::undone) target.in_force = target.accepted;
  if (result_kind == outcome::kept || result_kind == outcome::set) {
    target.accepted = target.in_force;
    target.incumbent.forget();
  }
  target.since = ++m_last_number;
  if (result_kind == outcome::trial) target.last_trial = target.since;
  // A candidate that is what was accepted is on nobody's account, and disturbs nobody beside it.
  if (result_kind == outcome::trial && target.on_trial()) m_trials.emplace(target.since, target.holder);
  if (m_trials.size() > most_trials) m_trials.erase(m_trials.begin());
  decision decision_made;
  decision_made.number = target.since;
  decision_made.time_s = m_time_s;
  decision_made.subject = target.info.id;
  decision_made.what = result_kind;
  decision_made.changes = std::move(changes);
  if (place >= 0) decision_made.policy = m_members[static_cast<std::size_t>(place)].report.name;
  decision_made.reason = std::move(reason);
  m_decisions.push_back(std::move(decision_made));
  return m_decisions.back();
}

}  // namespace trimtab::steer
