#include "trimtab/steer/shared_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trimtab::steer {

namespace {

// An order that takes so many times the longest one is late.
constexpr double patient_orders = 4;

}  // namespace

shared_search::shared_search(std::vector<knob> knobs, const shared_search_options& options)
    : m_knobs(std::move(knobs)),
      m_options(options),
      m_random(options.seed),
      m_accepted(initial_values_of(m_knobs)),
      m_orders(options.first_order),
      m_drift_after_s(options.drift_after_s) {
  for (const knob& each : m_knobs) m_settle = std::max(m_settle, each.settle);
  begin_search();
}

void shared_search::begin_search() {
  space dimensions = space_of(m_knobs, m_accepted);
  const point start = dimensions.start;
  m_search = make_search(m_options.kind, std::move(dimensions),
                         {m_options.seed ^ base::mix(m_generation++), m_options.most_evaluations, {}});
  m_search->tell(start, 1);
  m_phase = phase::exploring;
  m_first_order = m_orders;
  m_candidates.clear();
  m_told.clear();
  m_looked_around.clear();
  m_finalists.clear();
  m_next_finalist = 0;
  m_proofs_of_search = 0;
  m_is_told = m_is_kept = false;
  for (auto& [number, member] : m_members) member.reference.forget();
}

void shared_search::join(member_number member, double time_s) {
  leave(member);
  member_state fresh;
  fresh.runs_with = initial_values_of(m_knobs);
  fresh.rechecked_s = time_s;
  m_members.emplace(member, std::move(fresh));
}

void shared_search::leave(member_number member) {
  const auto position = m_members.find(member);
  if (position == m_members.end()) return;
  release(position->second);
  m_members.erase(position);
}

// What the member was asked for can be given to another one.
void shared_search::release(member_state& member) {
  if (member.order == 0 || member.purpose != order_purpose::explore || member.is_late) return;
  if (candidate* const asked = find(member.at)) asked->given_out -= std::min(asked->given_out, member.measurements);
}

double shared_search::patience() const { return std::max(m_options.patience_s, patient_orders * m_longest_order_s); }

void shared_search::note_late(double time_s) {
  for (auto& [number, member] : m_members) {
    if (member.order == 0 || member.is_late || time_s - member.given_s <= patience()) continue;
    release(member);
    member.is_late = true;
    member.is_in_turn = false;
  }
}

void shared_search::report(member_number number, const shared_report& reported, double time_s) {
  const auto position = m_members.find(number);
  if (position == m_members.end() || reported.number == 0 || position->second.order != reported.number) return;
  member_state& member = position->second;
  m_order_s.add(time_s - member.given_s);
  // One member that has done something else for an hour must not make all patient for hours.
  m_longest_order_s = std::max(m_longest_order_s, std::min(time_s - member.given_s, 2 * patience()));
  release(member);
  // What was asked for by an earlier search, or for an earlier proof, says nothing here.
  const bool is_current = reported.number > m_first_order;
  if (member.purpose == order_purpose::explore && is_current) take_ratio(member, reported);
  if (member.purpose == order_purpose::prove && is_current) take_pairs(member, reported);
  if (member.purpose == order_purpose::verify) take_turn(member, reported);
  if (member.purpose == order_purpose::recheck) take_level(member, reported, time_s);
  member.runs_with = member.afterwards;
  member.order = 0;
  member.is_late = false;
  if (member.purpose == order_purpose::explore) complete(time_s);
  if (member.purpose == order_purpose::prove && m_phase == phase::proving) judge(time_s);
}

std::vector<std::pair<member_number, shared_order>> shared_search::give_out(double time_s) {
  orders out;
  note_late(time_s);
  if (m_phase == phase::exploring || m_phase == phase::confirming) explore(time_s, out);
  if (m_phase == phase::proving) prove(time_s, out);
  if (m_phase == phase::verifying) verify(time_s, out);
  if (m_phase == phase::proving) prove(time_s, out);  // the next one, if all together are not faster
  if (m_phase == phase::settled) keep_watch(time_s, out);
  catch_up(time_s, out);
  return out;
}

// Who has joined late, or was late, comes back to what all have accepted.
void shared_search::catch_up(double time_s, orders& out) {
  for (auto& [number, member] : m_members) {
    if (member.order != 0 || member.is_in_turn || member.runs_with == m_accepted) continue;
    shared_order order = order_for(order_purpose::keep, m_accepted);
    order.reason = "what the other localities run with";
    give(number, std::move(order), time_s, out);
  }
}

shared_order shared_search::order_for(order_purpose purpose, const knob_values& afterwards) const {
  shared_order order;
  order.purpose = purpose;
  order.afterwards = afterwards;
  order.settle = m_settle;
  order.reason = why();
  return order;
}

std::string shared_search::why() const {
  return std::string(m_search->name()) + " by " + std::to_string(m_members.size()) + " localities together, " +
         std::to_string(m_search->evaluations()) + " evaluations";
}

void shared_search::give(member_number number, shared_order order, double time_s, orders& out) {
  member_state& member = m_members.at(number);
  release(member);
  order.number = ++m_orders;
  member.order = order.number;
  member.given_s = time_s;
  member.purpose = order.purpose;
  member.afterwards = order.afterwards;
  member.is_late = member.is_repeated = false;
  out.emplace_back(number, std::move(order));
}

void shared_search::settle(double time_s) {
  m_phase = phase::settled;
  m_is_told = false;
  m_settled_s = time_s;
  for (auto& [number, member] : m_members) {
    member.is_in_turn = false;
    member.reference.forget();
    member.rechecks = 0;
    member.settled_level = 0;
    member.rechecked_s = time_s;
  }
}

bool shared_search::is_settled_everywhere() const {
  return m_phase == phase::settled && m_is_told &&
         std::all_of(m_members.begin(), m_members.end(), [this](const auto& entry) {
           const member_state& member = entry.second;
           const bool is_changing = member.order != 0 && member.purpose != order_purpose::recheck;
           return member.is_late || (!is_changing && member.runs_with == m_accepted);
         });
}

void shared_search::keep_watch(double time_s, orders& out) {
  if (has_drifted(time_s)) {
    m_drift_after_s *= 2;
    begin_search();
    return explore(time_s, out);
  }
  if (!m_is_told) {
    shared_order order = order_for(m_is_kept ? order_purpose::keep : order_purpose::undo, m_accepted);
    order.gain = m_is_kept ? m_gain : estimate{};
    for (auto& [number, member] : m_members) give(number, order, time_s, out);
    m_is_told = true;
    return;
  }
  for (auto& [number, member] : m_members) {
    if (member.order != 0 || member.runs_with != m_accepted || time_s - member.rechecked_s < m_options.recheck_s) continue;
    shared_order order = order_for(order_purpose::recheck, m_accepted);
    order.legs = {{m_accepted, m_options.per_candidate}};
    give(number, std::move(order), time_s, out);
  }
}

void shared_search::take_level(member_state& member, const shared_report& reported, double time_s) {
  constexpr std::uint32_t rechecks_of_level = 3;
  member.rechecked_s = time_s;
  if (m_phase != phase::settled || reported.medians.empty() || !std::isfinite(reported.medians.front())) return;
  member.reference.add(reported.medians.front());
  if (++member.rechecks == rechecks_of_level) member.settled_level = member.reference.value();
}

bool shared_search::has_drifted(double time_s) const {
  if (time_s - m_settled_s < m_drift_after_s) return false;
  std::vector<double> logs;
  for (const auto& [number, member] : m_members)
    if (member.settled_level > 0 && member.reference.value() > 0)
      logs.push_back(std::log(member.reference.value() / member.settled_level));
  return 2 * logs.size() > m_members.size() && std::abs(median_of(logs)) > m_options.drift;
}

}  // namespace trimtab::steer
