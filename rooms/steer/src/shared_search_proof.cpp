// The proof: all members run with the candidate and with the incumbent in turn. A turn has two steps: all apply the values,
// and when all have, all measure. So no member is measured while another one still runs with other values.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "trimtab/steer/shared_search.hpp"

namespace trimtab::steer {

void shared_search::prove_next(double time_s) {
  if (m_next_finalist < m_finalists.size() && m_proofs_of_search < m_options.most_proofs)
    return begin_proof(values_at(m_knobs, m_finalists[m_next_finalist++].at));
  settle(time_s);
}

void shared_search::begin_proof(const knob_values& values) {
  // Each proof has half of what is left of alpha: together they have no more than all of it.
  constexpr std::uint32_t most_halves = 30;
  trial_options fair;
  m_proofs = std::min(m_proofs + 1, most_halves);
  m_proofs_of_search += 1;
  fair.alpha = m_options.alpha / static_cast<double>(std::uint64_t{1} << m_proofs);
  fair.least_gain = m_options.least_gain;
  m_trial = paired_trial(fair);
  m_candidate = values;
  m_phase = phase::proving;
  m_has_failed = false;
  begin_pair();
}

void shared_search::begin_pair() {
  for (auto& [number, member] : m_members) {
    member.is_in_turn = !member.is_late;
    member.first_turn = 0;
  }
  m_is_candidate_first = m_random.coin();
  m_is_second_turn = false;
  m_log_ratios.clear();
  begin_turn();
}

const knob_values& shared_search::values_of_turn() const {
  return m_is_candidate_first != m_is_second_turn ? m_candidate : m_accepted;
}

void shared_search::begin_turn() {
  const auto is_in_turn = [](const auto& entry) { return entry.second.is_in_turn; };
  const bool is_applied = std::all_of(m_members.begin(), m_members.end(), [this](const auto& entry) {
    return !entry.second.is_in_turn || (entry.second.order == 0 && entry.second.runs_with == values_of_turn());
  });
  // A single member has nobody to wait for.
  const bool is_alone = std::count_if(m_members.begin(), m_members.end(), is_in_turn) == 1;
  m_step = is_applied || is_alone ? turn_step::measuring : turn_step::applying;
  m_is_turn_given = false;
}

void shared_search::give_turn(double time_s, orders& out) {
  for (auto& [number, member] : m_members) {
    if (!member.is_in_turn) continue;
    shared_order order = order_for(order_purpose::prove, values_of_turn());
    // What is measured before a change has settled does not count.
    const std::uint32_t measurements = m_step == turn_step::measuring ? 1 : m_settle;
    if (m_step == turn_step::applying) order.settle = 0;
    if (measurements > 0) order.legs = {{values_of_turn(), measurements}};
    give(number, std::move(order), time_s, out);
  }
  m_is_turn_given = true;
}

bool shared_search::is_turn_over() const {
  return std::none_of(m_members.begin(), m_members.end(),
                      [](const auto& entry) { return entry.second.is_in_turn && entry.second.order != 0; });
}

void shared_search::prove(double time_s, orders& out) {
  if (std::none_of(m_members.begin(), m_members.end(), [](const auto& entry) { return entry.second.is_in_turn; })) {
    // All who took part have left, or are late.
    if (m_members.empty() || std::all_of(m_members.begin(), m_members.end(), [](const auto& e) { return e.second.is_late; }))
      return;
    begin_pair();
  }
  if (!m_is_turn_given) return give_turn(time_s, out);
  if (!is_turn_over()) return;
  if (m_step == turn_step::applying && !m_has_failed) {
    m_step = turn_step::measuring;
    return give_turn(time_s, out);
  }
  end_turn(time_s);
  if (m_phase == phase::proving) give_turn(time_s, out);
}

void shared_search::take_turn(member_state& member, const shared_report& reported) {
  if (m_phase != phase::proving || !member.is_in_turn) return;
  const bool is_candidate = values_of_turn() == m_candidate;
  const double value = reported.medians.empty() ? 0 : reported.medians.front();
  if (!std::isfinite(value)) {
    if (is_candidate) m_has_failed = true;
    member.first_turn = 0;
    return;
  }
  if (m_step == turn_step::applying) return;
  if (!m_is_second_turn) {
    member.first_turn = value;
  } else if (member.first_turn > 0 && value > 0) {
    const double ratio = is_candidate ? value / member.first_turn : member.first_turn / value;
    m_log_ratios.push_back(std::log(ratio));
  }
}

void shared_search::end_turn(double time_s) {
  if (!m_is_second_turn && !m_has_failed) {
    m_is_second_turn = true;
    return begin_turn();
  }
  judge(time_s);
}

// The geometric mean over the members: each counts the same, whatever its speed and its share of the work.
void shared_search::judge(double time_s) {
  verdict judged = verdict::not_better;
  if (!m_has_failed) {
    if (m_log_ratios.empty()) return begin_pair();
    const double sum = std::accumulate(m_log_ratios.begin(), m_log_ratios.end(), 0.0);
    judged = m_trial.add(std::exp(sum / static_cast<double>(m_log_ratios.size())), 1);
  }
  if (judged == verdict::open) return begin_pair();
  if (judged == verdict::not_better) return prove_next(time_s);
  m_is_kept = true;
  m_gain = m_trial.gain();
  m_accepted = m_candidate;
  settle(time_s);
}

}  // namespace trimtab::steer
