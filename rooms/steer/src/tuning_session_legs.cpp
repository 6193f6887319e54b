// What follows a leg: the next candidate of a search, the next pair of a proof.
#include <algorithm>

#include "tuning_session.hpp"

namespace trimtab::steer {

void tuning_session::next_leg(const subject_view& subject, const view& now) {
  if (m_phase == phase::proving) return prove_on(now);
  if (m_is_candidate_leg) return told(subject);
  explore_on(subject, now);
}

// The next candidate, or the end of the search.
void tuning_session::explore_on(const subject_view& subject, const view& now) {
  const std::optional<point> next = m_search->ask();
  if (!next) {
    if (!prove_best(subject, m_options.least_gain)) settle(now);
    return;
  }
  m_asked = *next;
  m_is_candidate_leg = true;
  begin_leg(values_at(subject.info.knobs, m_asked), m_options.per_candidate);
}

// The candidate's leg is over.
void tuning_session::told(const subject_view& subject) {
  const double ratio = m_incumbent.value() > 0 ? median_of(m_taken) / m_incumbent.value() : 1;
  m_search->tell(m_asked, ratio * m_scale);
  m_is_candidate_leg = false;
  if (prove_best(subject, m_options.early_gain)) return;
  begin_leg(m_accepted, m_options.per_reference);
}

bool tuning_session::prove_best(const subject_view& subject, double least_gain) {
  const auto best = m_search->best();
  if (!best || best->value > m_scale * (1 - least_gain)) return false;
  values candidate = values_at(subject.info.knobs, best->at);
  if (candidate == m_accepted || m_disproved.contains(candidate)) return false;
  begin_proof(std::move(candidate));
  return true;
}

void tuning_session::begin_proof(values candidate) {
  // Each proof has half of what is left of alpha: together they have no more than all of it.
  constexpr std::uint32_t most_halves = 30;
  trial_options fair;
  m_proofs = std::min(m_proofs + 1, most_halves);
  fair.alpha = m_options.alpha / static_cast<double>(std::uint64_t{1} << m_proofs);
  fair.least_gain = m_options.least_gain;
  m_trial = paired_trial(fair);
  m_candidate = std::move(candidate);
  m_phase = phase::proving;
  m_is_candidate_leg = false;
  m_first = 0;
  next_pair();
}

void tuning_session::next_pair() {
  m_is_candidate_first = m_random.coin();
  m_first = 0;
  begin_leg(m_is_candidate_first ? m_candidate : m_accepted, 1);
}

void tuning_session::prove_on(const view& now) {
  const double value = median_of(m_taken);
  if (m_first == 0) {
    m_first = value;
    if (value > 0) return begin_leg(m_is_candidate_first ? m_accepted : m_candidate, 1);
  }
  const verdict judged = m_trial.add(m_is_candidate_first ? m_first : value, m_is_candidate_first ? value : m_first);
  if (judged == verdict::open) return next_pair();
  if (judged == verdict::better) {
    m_phase = phase::keeping;
    return begin_leg(m_candidate, 0);
  }
  m_disproved.insert(m_candidate);
  if (m_search == nullptr) return settle(now);
  m_phase = phase::exploring;
  begin_leg(m_accepted, m_options.per_reference);
}

}  // namespace trimtab::steer
