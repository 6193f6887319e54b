#include "trimtab/steer/value_proof.hpp"

#include <algorithm>
#include <utility>

namespace trimtab::steer {

value_proof::value_proof(plan given, const subject_view& subject, random_source& random)
    : m_plan(std::move(given)), m_trial(m_plan.test), m_is_candidate_next(random.coin()) {
  for (const proposed_change& change : m_plan.candidate) m_incumbent.push_back(subject.accepted[change.knob]);
}

bool value_proof::is_candidate(std::span<const knob_value> values) const noexcept {
  return std::all_of(m_plan.candidate.begin(), m_plan.candidate.end(),
                     [values](const proposed_change& change) { return values[change.knob] == change.to; });
}

void value_proof::take_in(const subject_view& subject, random_source& random) {
  if (m_trial.judged() != verdict::open || (m_is_proposed && subject.last_trial == m_before)) return;
  const decision_number wanted = m_is_proposed ? subject.last_trial : m_before;
  for (const measurement& measurement : subject.measured) {
    if (measurement.under != wanted || !(measurement.value > 0)) continue;
    if (!m_first) {
      m_first = measurement.value;
      m_is_candidate_next = !m_is_candidate_next;
    } else {
      m_trial.add(m_is_candidate_next ? measurement.value : *m_first, m_is_candidate_next ? *m_first : measurement.value);
      m_first.reset();
      m_is_candidate_next = random.coin();
    }
    return;
  }
}

value_proof::state value_proof::go_on(const subject_view& subject, std::vector<proposal>& out) {
  for (std::size_t i = 0; i < m_incumbent.size(); ++i)
    if (subject.accepted[m_plan.candidate[i].knob] != m_incumbent[i])
      return is_candidate(subject.accepted) ? state::kept : state::changed_by_others;
  const verdict judged = m_trial.judged();
  const auto propose = [&](outcome result_kind, const std::string& reason) -> proposal& {
    return out.emplace_back(proposal{subject.info.id, result_kind, {}, reason, m_plan.evidence, {}});
  };
  const bool is_candidate_in_force = is_candidate(subject.in_force);
  if (judged == verdict::not_better) {
    if (is_candidate_in_force) propose(outcome::undone, "no better: " + m_plan.reason).gain = m_trial.gain();
    return state::lost;
  }
  // What is better has to be in force to be kept.
  const bool is_candidate_wanted = judged == verdict::better || m_is_candidate_next;
  // Where there is no budget it is refused, and proposed again with the next measurement.
  m_is_proposed = is_candidate_in_force != is_candidate_wanted;
  m_before = m_is_proposed ? subject.last_trial : subject.since;
  if (m_is_proposed) {
    proposal& next = propose(outcome::trial, m_plan.reason);
    next.changes = m_plan.candidate;
    for (std::size_t i = 0; i < m_incumbent.size() && !is_candidate_wanted; ++i) next.changes[i].to = m_incumbent[i];
  }
  if (judged == verdict::better) propose(outcome::kept, m_plan.reason).gain = m_trial.gain();
  return state::open;
}

}  // namespace trimtab::steer
