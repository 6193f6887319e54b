#include "trimtab/steer/shared_search_member.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trimtab/observe/words.hpp"
#include "trimtab/steer/budget.hpp"

namespace trimtab::steer {

namespace {

constexpr double failed_measurement = std::numeric_limits<double>::infinity();
constexpr std::size_t most_idle = 8;

}  // namespace

shared_search_member::shared_search_member(knob_values initial, apply_values apply, listener on_decision)
    : m_values(initial), m_accepted(std::move(initial)), m_apply(std::move(apply)), m_listener(std::move(on_decision)) {}

void shared_search_member::take(shared_order order) {
  if (order.number <= m_latest) return;
  m_latest = order.number;
  m_next = std::move(order);
  m_has_next = true;
}

std::optional<shared_report> shared_search_member::sample(double value) {
  if (m_is_over) return std::nullopt;
  count(value);
  return go_on();
}

std::optional<shared_report> shared_search_member::go_on() {
  if (m_is_over) return std::nullopt;
  if (m_has_next) return begin_order();
  if (!m_has_order || !is_leg_over()) return std::nullopt;
  end_leg(median_of(m_taken));
  return begin_legs();
}

void shared_search_member::count(double value) {
  if (m_to_skip > 0) {
    m_to_skip -= 1;
    return;
  }
  const double counted = std::isnan(value) || value < 0 ? failed_measurement : value;
  if (m_has_order) return m_taken.push_back(counted);
  if (m_idle.size() == most_idle) m_idle.erase(m_idle.begin());
  m_idle.push_back(counted);
}

bool shared_search_member::is_leg_over() const {
  const shared_leg& leg = m_order.legs[m_leg];
  if (m_taken.size() >= leg.measurements) return true;
  if (m_taken.empty() || m_leg == 0) return false;
  const double level = m_report.medians.front();
  return std::isinf(m_taken.back()) ||
         (m_order.clearly_worse > 0 && level > 0 && median_of(m_taken) > m_order.clearly_worse * level);
}

void shared_search_member::end_leg(double median) {
  m_report.is_cut_short = m_taken.size() < m_order.legs[m_leg].measurements;
  m_report.medians.push_back(median);
  m_leg += 1;
}

std::optional<shared_report> shared_search_member::begin_order() {
  m_order = std::move(m_next);
  m_has_next = false;
  m_has_order = true;
  m_leg = 0;
  m_report = {m_order.number, {}, false};
  return begin_legs();
}

// A leg whose values cannot be applied is over at once. What was measured of the incumbent while there was no order counts,
// but not in a proof, where all measure at the same time.
std::optional<shared_report> shared_search_member::begin_legs() {
  while (m_leg < m_order.legs.size()) {
    const shared_leg& leg = m_order.legs[m_leg];
    m_taken.clear();
    if (!put_in_force(leg.values)) {
      end_leg(failed_measurement);
      continue;
    }
    const bool is_idle_counted = m_order.purpose == order_purpose::explore || m_order.purpose == order_purpose::recheck;
    if (m_leg == 0 && is_idle_counted) {
      const std::size_t known = std::min<std::size_t>(m_idle.size(), leg.measurements);
      m_taken.assign(m_idle.end() - static_cast<std::ptrdiff_t>(known), m_idle.end());
    }
    m_idle.clear();
    if (!is_leg_over()) return std::nullopt;
    end_leg(median_of(m_taken));
  }
  return end_order();
}

shared_report shared_search_member::end_order() {
  const bool is_in_force = put_in_force(m_order.afterwards);
  if (!is_in_force) m_report.medians.assign(1, failed_measurement);
  if (is_in_force && m_order.purpose == order_purpose::keep && m_accepted != m_values) {
    tell(outcome::kept, m_accepted, m_values);
    m_accepted = m_values;
  }
  if (m_order.purpose != order_purpose::recheck)
    m_is_settled = m_order.purpose == order_purpose::keep || m_order.purpose == order_purpose::undo;
  m_has_order = false;
  return std::move(m_report);
}

bool shared_search_member::put_in_force(const knob_values& values) {
  if (values == m_values) return true;
  const knob_values before = m_values;
  try {
    if (!m_apply(values)) return false;
  } catch (...) {
    return false;
  }
  m_values = values;
  m_idle.clear();
  m_to_skip = m_has_order ? m_order.settle : 0;
  tell(values == m_accepted ? outcome::undone : outcome::trial, before, values);
  return true;
}

void shared_search_member::finish() {
  if (std::exchange(m_is_over, true)) return;
  m_has_order = false;
  put_in_force(m_accepted);
}

void shared_search_member::tell(outcome what, const knob_values& from, const knob_values& to) {
  if (!m_listener) return;
  namespace reasons = observe::words::decision_reason;
  decision made;
  made.number = ++m_decisions;
  made.what = what;
  made.policy = "whole-job search";
  if (what == outcome::undone)
    made.reason = !m_has_order ? reasons::not_measured
                  : m_order.purpose == order_purpose::prove || m_order.purpose == order_purpose::verify
                      ? reasons::incumbents_turn
                  : m_order.purpose == order_purpose::undo ? reasons::no_better
                                                           : reasons::measured;
  else if (m_has_order)
    made.reason = m_order.reason;
  if (what == outcome::kept) made.gain = m_order.gain;
  for (std::uint32_t i = 0; i < to.size(); ++i)
    if (from[i] != to[i]) made.changes.push_back({i, from[i], to[i]});
  m_listener(made);
}

}  // namespace trimtab::steer
