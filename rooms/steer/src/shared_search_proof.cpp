// The proof of a candidate, in two stages.
//
// proving     Each member measures pairs of candidate and incumbent, in an order that a coin of its own decides. If the
//             candidate is no better, each pair is won with a probability of at most one half, whatever happened to the
//             others, so the pairs of all members count in one sequential test (trial.hpp).
// verifying   All members run with the candidate, then all with the incumbent, and so on: what a member gains at the expense
//             of others shows here. A turn has two steps: all apply the values, and when all have, all measure. So no member
//             is measured while another one runs with other values.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "trimtab/steer/shared_search.hpp"

namespace trimtab::steer {

namespace {

// Won pairs in a row that a first proof takes.
constexpr std::uint32_t usual_pairs = 7, most_pairs_of_order = 4;
// Turns after which the verification gives up: four of the candidate, three of the incumbent.
constexpr std::uint32_t most_turns = 7;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

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
  m_first_order = m_orders;
  m_has_failed = false;
  m_phase = phase::proving;
}

std::uint32_t shared_search::pairs_of_order() const {
  // Who is alone has its next order at once.
  if (m_members.size() < 2) return 1;
  const std::uint32_t usual = usual_pairs + m_proofs - 1, done = std::min(m_trial.pairs(), usual - 1);
  const auto members = static_cast<std::uint32_t>(m_members.size());
  return std::min((usual - done + members - 1) / members, most_pairs_of_order);
}

void shared_search::prove(double time_s, orders& out) {
  for (auto& [number, member] : m_members) {
    if (member.order != 0) continue;
    shared_order order = order_for(order_purpose::prove, m_candidate);
    member.is_candidate_first.clear();
    for (std::uint32_t i = pairs_of_order(); i > 0; --i) {
      const bool is_candidate_first = m_random.coin();
      member.is_candidate_first.push_back(is_candidate_first);
      order.legs.push_back({is_candidate_first ? m_candidate : m_accepted, 1});
      order.legs.push_back({is_candidate_first ? m_accepted : m_candidate, 1});
    }
    give(number, std::move(order), time_s, out);
  }
}

void shared_search::take_pairs(const member_state& member, const shared_report& reported) {
  if (m_phase != phase::proving) return;
  const std::vector<double>& values = reported.medians;
  for (std::size_t i = 0; i < member.is_candidate_first.size() && 2 * i + 1 < values.size(); ++i) {
    const bool is_candidate_first = member.is_candidate_first[i];
    const double candidate_value = values[2 * i + (is_candidate_first ? 0 : 1)];
    const double incumbent_value = values[2 * i + (is_candidate_first ? 1 : 0)];
    if (std::isinf(candidate_value)) m_has_failed = true;
    if (std::isfinite(candidate_value) && std::isfinite(incumbent_value)) m_trial.add(candidate_value, incumbent_value);
  }
  // Values that could not be applied end the order early.
  if (!values.empty() && std::isinf(values.back()) && values.size() < 2 * member.is_candidate_first.size())
    m_has_failed = true;
}

void shared_search::judge(double time_s) {
  const verdict judged = m_has_failed ? verdict::not_better : m_trial.judged();
  if (judged == verdict::open) return;
  if (judged == verdict::not_better) return prove_next(time_s);
  m_gain = m_trial.gain();
  if (m_members.size() < 2) return accept(time_s);
  begin_verification();
}

void shared_search::accept(double time_s) {
  m_is_kept = true;
  m_accepted = m_candidate;
  settle(time_s);
}

void shared_search::begin_verification() {
  m_phase = phase::verifying;
  m_turns = 0;
  for (auto& [number, member] : m_members) {
    member.is_in_turn = !member.is_late;
    for (auto& logs : member.logs) logs.clear();
  }
  begin_turn();
}

const knob_values& shared_search::values_of_turn() const { return m_turns % 2 == 0 ? m_candidate : m_accepted; }

void shared_search::begin_turn() {
  const bool is_applied = std::all_of(m_members.begin(), m_members.end(), [this](const auto& entry) {
    return !entry.second.is_in_turn || (entry.second.order == 0 && entry.second.runs_with == values_of_turn());
  });
  m_step = is_applied ? turn_step::measuring : turn_step::applying;
  m_is_turn_given = false;
}

void shared_search::give_turn(double time_s, orders& out) {
  for (auto& [number, member] : m_members) {
    if (!member.is_in_turn) continue;
    shared_order order = order_for(order_purpose::verify, values_of_turn());
    // What is measured before a change has settled does not count.
    const std::uint32_t measurements = m_step == turn_step::measuring ? 1 : m_settle;
    order.settle = 0;
    if (measurements > 0) order.legs = {{values_of_turn(), measurements}};
    give(number, std::move(order), time_s, out);
  }
  m_is_turn_given = true;
}

void shared_search::verify(double time_s, orders& out) {
  const auto is_in_turn = [](const auto& entry) { return entry.second.is_in_turn; };
  if (std::none_of(m_members.begin(), m_members.end(), is_in_turn)) {
    // All who took part have left, or are late.
    if (std::all_of(m_members.begin(), m_members.end(), [](const auto& entry) { return entry.second.is_late; })) return;
    begin_verification();
  }
  if (!m_is_turn_given) return give_turn(time_s, out);
  const bool is_waiting = std::any_of(m_members.begin(), m_members.end(),
                                      [](const auto& entry) { return entry.second.is_in_turn && entry.second.order != 0; });
  if (is_waiting) return;
  if (m_step == turn_step::applying && !m_has_failed) {
    m_step = turn_step::measuring;
    return give_turn(time_s, out);
  }
  end_turn(time_s);
  if (m_phase == phase::verifying) give_turn(time_s, out);
}

void shared_search::take_turn(member_state& member, const shared_report& reported) {
  if (m_phase != phase::verifying || !member.is_in_turn) return;
  const bool is_candidate = m_turns % 2 == 0;
  const double value = reported.medians.empty() ? 0 : reported.medians.front();
  if (std::isinf(value) && is_candidate) m_has_failed = true;
  if (m_step == turn_step::measuring && std::isfinite(value) && value > 0)
    member.logs[is_candidate ? 1 : 0].push_back(std::log(value));
}

// The geometric mean over the members: each counts the same, whatever its speed and its share of the work.
void shared_search::end_turn(double time_s) {
  m_turns += 1;
  if (m_has_failed) return prove_next(time_s);
  // Of the candidate, of the incumbent, of the candidate: a slow change of the whole machine cancels out.
  if (m_turns < 3 || m_turns % 2 == 0) return begin_turn();
  std::vector<double> log_ratios;
  for (const auto& [number, member] : m_members)
    if (member.is_in_turn && !member.logs[0].empty() && !member.logs[1].empty())
      log_ratios.push_back(mean_of(member.logs[1]) - mean_of(member.logs[0]));
  if (log_ratios.empty()) return begin_verification();
  if (mean_of(log_ratios) < std::log(1 - m_options.least_gain / 2)) return accept(time_s);
  if (m_turns >= most_turns) return prove_next(time_s);
  begin_turn();
}

}  // namespace trimtab::steer
