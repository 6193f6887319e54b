#include "trimtab/steer/board.hpp"

namespace trimtab::steer {

void board::add(const subject_info& subject, apply_knob apply, in_force on_decision) {
  entry fresh;
  fresh.accepted = fresh.values = initial_values_of(subject.knobs);
  fresh.apply = std::move(apply);
  fresh.told = std::move(on_decision);
  const std::lock_guard guard(m_lock);
  m_subjects.insert_or_assign(subject.id, std::move(fresh));
}

void board::remove(subject_id subject) {
  const std::lock_guard guard(m_lock);
  m_subjects.erase(subject);
}

bool board::turn(entry& target, std::uint32_t knob, knob_value to) noexcept {
  if (knob >= target.values.size()) return false;
  if (target.values[knob] == to) return true;
  try {
    if (!target.apply || !target.apply(knob, to)) return false;
  } catch (...) {
    return false;
  }
  target.values[knob] = to;
  return true;
}

bool board::turn_back(entry& target) noexcept {
  bool is_restored = true;
  for (std::uint32_t i = 0; i < target.values.size(); ++i) is_restored = turn(target, i, target.accepted[i]) && is_restored;
  return is_restored;
}

bool board::apply(const decision& decision_made) {
  const std::lock_guard guard(m_lock);
  const auto match = m_subjects.find(decision_made.subject);
  if (match == m_subjects.end() || m_is_over) return false;
  entry& target = match->second;
  bool is_applied = true;
  if (decision_made.what == outcome::undone) {
    is_applied = turn_back(target);
  } else if (decision_made.what != outcome::kept) {
    for (const change& change : decision_made.changes) is_applied = is_applied && turn(target, change.knob, change.to);
    if (!is_applied) turn_back(target);
  }
  if (is_applied && (decision_made.what == outcome::kept || decision_made.what == outcome::set))
    target.accepted = target.values;
  target.latest = decision_made.number;
  return tell(target) && is_applied;
}

bool board::tell(const entry& target) noexcept {
  try {
    if (target.told) target.told(target.latest);
  } catch (...) {
    return false;
  }
  return true;
}

std::size_t board::restore() {
  const std::lock_guard guard(m_lock);
  m_is_over = true;
  std::size_t changed = 0;
  for (auto& [id, each] : m_subjects) {
    if (each.values == each.accepted) continue;
    turn_back(each);
    tell(each);
    changed += 1;
  }
  return changed;
}

std::vector<knob_value> board::values(subject_id subject) const {
  const std::lock_guard guard(m_lock);
  const auto match = m_subjects.find(subject);
  return match == m_subjects.end() ? std::vector<knob_value>{} : match->second.values;
}

std::vector<knob_value> board::accepted(subject_id subject) const {
  const std::lock_guard guard(m_lock);
  const auto match = m_subjects.find(subject);
  return match == m_subjects.end() ? std::vector<knob_value>{} : match->second.accepted;
}

}  // namespace trimtab::steer
