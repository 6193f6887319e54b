#include "trimtab/steer/board.hpp"

namespace trimtab::steer {

void board::add(const subject_info& subject, apply_knob apply, in_force told) {
  entry fresh;
  for (const knob& each : subject.knobs) fresh.values.push_back(each.initial);
  fresh.accepted = fresh.values;
  fresh.apply = std::move(apply);
  fresh.told = std::move(told);
  const std::lock_guard guard(m_lock);
  m_subjects.insert_or_assign(subject.id, std::move(fresh));
}

void board::remove(subject_id subject) {
  const std::lock_guard guard(m_lock);
  m_subjects.erase(subject);
}

bool board::turn(entry& on, std::uint32_t knob, knob_value to) noexcept {
  if (knob >= on.values.size()) return false;
  if (on.values[knob] == to) return true;
  try {
    if (!on.apply || !on.apply(knob, to)) return false;
  } catch (...) {
    return false;
  }
  on.values[knob] = to;
  return true;
}

bool board::turn_back(entry& on) noexcept {
  bool is_back = true;
  for (std::uint32_t i = 0; i < on.values.size(); ++i) is_back = turn(on, i, on.accepted[i]) && is_back;
  return is_back;
}

bool board::apply(const decision& made) {
  const std::lock_guard guard(m_lock);
  const auto found = m_subjects.find(made.subject);
  if (found == m_subjects.end() || m_is_over) return false;
  entry& on = found->second;
  bool is_applied = true;
  if (made.what == outcome::undone) {
    is_applied = turn_back(on);
  } else if (made.what != outcome::kept) {
    for (const change& each : made.changes) is_applied = is_applied && turn(on, each.knob, each.to);
    if (!is_applied) turn_back(on);
  }
  if (is_applied && (made.what == outcome::kept || made.what == outcome::set)) on.accepted = on.values;
  on.latest = made.number;
  return tell(on) && is_applied;
}

bool board::tell(const entry& on) noexcept {
  try {
    if (on.told) on.told(on.latest);
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
  const auto found = m_subjects.find(subject);
  return found == m_subjects.end() ? std::vector<knob_value>{} : found->second.values;
}

std::vector<knob_value> board::accepted(subject_id subject) const {
  const std::lock_guard guard(m_lock);
  const auto found = m_subjects.find(subject);
  return found == m_subjects.end() ? std::vector<knob_value>{} : found->second.accepted;
}

}  // namespace trimtab::steer
