// Candidates: who measures which, and what their ratios to the incumbent are.
#include <algorithm>
#include <cmath>
#include <limits>

#include "trimtab/steer/shared_search.hpp"

namespace trimtab::steer {

namespace {

constexpr double failed_ratio = std::numeric_limits<double>::infinity();
// An order that takes so many times the usual is given to a second member, if one is free.
constexpr double slow_orders = 2;
// Where nothing was said, neighbours are measured until there are so many evaluations.
constexpr std::uint32_t usual_evaluations = 100;

}  // namespace

shared_search::candidate* shared_search::find(const point& at) {
  const auto position =
      std::find_if(m_candidates.begin(), m_candidates.end(), [&](const candidate& each) { return each.at == at; });
  return position == m_candidates.end() ? nullptr : &*position;
}

void shared_search::add_candidate(const point& at, std::uint32_t measurements) {
  candidate added;
  added.at = at;
  added.values = values_at(m_knobs, at);
  added.wanted = std::max(measurements, 1u);
  m_candidates.push_back(std::move(added));
}

// What the search wants now. Of searches that want very many at once, only some.
void shared_search::fill() {
  const std::size_t most = std::max<std::size_t>(16, 2 * m_members.size());
  while (m_candidates.size() < most) {
    const auto next = m_search->ask();
    if (!next) break;
    add_candidate(*next, m_options.per_candidate);
  }
}

// So many measurements go with the next order: an equal part for each member of what nobody has been asked for yet. Several
// members may share the measurements of one candidate.
std::uint32_t shared_search::part() const {
  std::size_t left = 0;
  for (const candidate& each : m_candidates) left += each.left();
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, (left + m_members.size() - 1) / m_members.size()));
}

void shared_search::explore(double time_s, orders& out) {
  if (m_members.empty()) return;
  if (m_candidates.empty() && m_phase == phase::exploring) fill();
  if (m_candidates.empty()) end_exploring(time_s);
  for (auto& [number, member] : m_members) {
    if (member.order != 0 || member.runs_with != m_accepted) continue;
    candidate* const next = next_candidate(time_s);
    if (next == nullptr) return;
    shared_order order = order_for(order_purpose::explore, m_accepted);
    order.clearly_worse = m_options.clearly_worse;
    // The member's level is that of its last references.
    const std::uint32_t references = member.reference.is_known() ? 1 : m_options.per_reference;
    order.legs = {{m_accepted, references}, {next->values, std::min(part(), std::max(next->left(), 1u))}};
    member.at = next->at;
    member.measurements = order.legs.back().measurements;
    next->given_out += member.measurements;
    give(number, std::move(order), time_s, out);
  }
}

shared_search::candidate* shared_search::next_candidate(double time_s) {
  for (candidate& each : m_candidates)
    if (each.left() > 0) return &each;
  // A slow member must not keep all others waiting.
  for (auto& [number, member] : m_members) {
    const bool is_slow = member.order != 0 && member.purpose == order_purpose::explore && !member.is_repeated &&
                         m_order_s.is_known() && time_s - member.given_s > slow_orders * m_order_s.value();
    candidate* const asked = is_slow ? find(member.at) : nullptr;
    if (asked == nullptr) continue;
    member.is_repeated = true;
    return asked;
  }
  return nullptr;
}

void shared_search::take_ratio(member_state& member, const shared_report& reported) {
  candidate* const asked = find(member.at);
  if (asked == nullptr || reported.medians.size() != 2) return;
  const double reference = reported.medians.front(), value = reported.medians.back();
  if (reference > 0 && std::isfinite(reference)) member.reference.add(reference);
  double ratio = failed_ratio;
  if (std::isfinite(value)) ratio = member.reference.value() > 0 ? value / member.reference.value() : 1;
  asked->ratios.insert(asked->ratios.end(), std::max(member.measurements, 1u), ratio);
  // It is not worth more measurements.
  if (reported.is_cut_short || std::isinf(ratio)) asked->wanted = 0;
  if (std::isinf(ratio)) asked->ratios.assign(1, failed_ratio);
}

// Tells the search of candidates that are measured, and asks it for the next ones.
void shared_search::complete(double time_s) {
  for (bool is_any = true; is_any;) {
    is_any = false;
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      const candidate& each = m_candidates[i];
      if (each.ratios.empty() || each.ratios.size() < each.wanted) continue;
      const search::found result{each.at, median_of(each.ratios)};
      m_candidates.erase(m_candidates.begin() + static_cast<std::ptrdiff_t>(i));
      m_told.push_back(result);
      if (m_phase == phase::exploring) {
        m_evaluations += 1;
        m_search->tell(result.at, result.value);
      }
      is_any = true;
      break;
    }
  }
  if (m_phase == phase::exploring) fill();
  if (m_candidates.empty() && (m_phase == phase::exploring || m_phase == phase::confirming)) end_exploring(time_s);
}

// The search is done. Simplexes may collapse before they are at the best point, so the neighbours of the best are measured,
// all at the same time, until none is better.
bool shared_search::add_neighbours() {
  const auto best = m_search->best();
  const std::uint32_t most = m_options.most_evaluations != 0 ? m_options.most_evaluations : usual_evaluations;
  if (!best || best->at == m_looked_around || m_search->evaluations() >= most) return false;
  m_looked_around = best->at;
  const space& over = m_search->over();
  for (std::size_t axis = 0; axis < best->at.size(); ++axis) {
    if (!over.dimensions[axis].is_ordered) continue;
    for (const bool is_up : {false, true}) {
      point next = best->at;
      if (is_up ? next[axis] + 1 >= over.dimensions[axis].size : next[axis] == 0) continue;
      next[axis] = is_up ? next[axis] + 1 : next[axis] - 1;
      const bool is_known =
          next == over.start ||
          std::any_of(m_told.begin(), m_told.end(), [&next](const search::found& each) { return each.at == next; });
      if (!is_known) add_candidate(next, m_options.per_candidate);
    }
  }
  return !m_candidates.empty();
}

// The best are measured once more, and after that proved.
void shared_search::end_exploring(double time_s) {
  if (m_phase == phase::exploring && add_neighbours()) return;
  std::erase_if(m_told, [this](const search::found& each) {
    return each.value > 1 - m_options.least_gain || values_at(m_knobs, each.at) == m_accepted;
  });
  std::stable_sort(m_told.begin(), m_told.end(),
                   [](const search::found& one, const search::found& other) { return one.value < other.value; });
  if (m_phase == phase::exploring && m_told.size() > 1 && m_options.per_finalist > 0) {
    m_told.resize(std::min<std::size_t>(m_told.size(), std::max(m_options.finalists, 1u)));
    m_phase = phase::confirming;
    for (const search::found& each : m_told) add_candidate(each.at, m_options.per_finalist);
    m_told.clear();
    return;
  }
  m_finalists = std::move(m_told);
  m_told.clear();
  m_next_finalist = 0;
  prove_next(time_s);
}

}  // namespace trimtab::steer
