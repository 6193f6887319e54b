#include "trimtab/steer/value_proof.hpp"

namespace trimtab::steer {

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

bool value_proof::go_on(std::set<knob_value>& beaten, const subject_view& subject, std::vector<proposal>& out) {
  const knob_value accepted = subject.accepted[m_plan.place];
  if (accepted != m_plan.incumbent) {
    // Kept; or somebody else has set it.
    if (accepted == m_plan.candidate) beaten.insert(m_plan.incumbent);
    return false;
  }
  const verdict judged = m_trial.judged();
  const auto propose = [&](outcome result_kind, const std::string& reason) -> proposal& {
    return out.emplace_back(proposal{subject.info.id, result_kind, {}, reason, m_plan.evidence, {}});
  };
  if (judged == verdict::not_better) {
    if (subject.in_force[m_plan.place] != accepted)
      propose(outcome::undone, "no better: " + m_plan.reason).gain = m_trial.gain();
    beaten.insert(m_plan.candidate);
    return false;
  }
  // What is better has to be in force to be kept.
  const knob_value wanted = judged == verdict::better || m_is_candidate_next ? m_plan.candidate : accepted;
  // Where there is no budget it is refused, and proposed again with the next measurement.
  m_is_proposed = subject.in_force[m_plan.place] != wanted;
  m_before = m_is_proposed ? subject.last_trial : subject.since;
  if (m_is_proposed) propose(outcome::trial, m_plan.reason).changes = {{m_plan.place, wanted}};
  if (judged == verdict::better) propose(outcome::kept, m_plan.reason).gain = m_trial.gain();
  return true;
}

}  // namespace trimtab::steer
