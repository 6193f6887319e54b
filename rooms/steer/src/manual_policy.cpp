#include "trimtab/steer/manual_policy.hpp"

#include <utility>

namespace trimtab::steer {

namespace {

proposal setting_of(subject_id subject, std::uint32_t knob, knob_value to, const char* reason) {
  proposal proposed;
  proposed.subject = subject;
  proposed.what = outcome::set;
  proposed.changes.push_back({knob, to});
  proposed.reason = reason;
  return proposed;
}

}  // namespace

void manual_policy::observe(const view& now, std::vector<proposal>& out) {
  // A number may come to stand for another subject.
  for (const subject_id gone : now.gone) m_before.erase(gone);
  if (now.is_last) return;
  for (const event& happening : now.events) {
    const std::string_view name = happening.name;
    const bool is_set = name.starts_with(events::set_by_hand), is_undo = name.starts_with(events::undo_by_hand);
    const subject_view* const subject = is_set || is_undo ? now.find(happening.subject) : nullptr;
    if (subject == nullptr) continue;
    const auto knob = subject->info.place_of(name.substr(name.find('/') + 1));
    if (!knob) continue;
    if (is_set)
      set(*subject, *knob, static_cast<knob_value>(happening.value), out);
    else
      undo(*subject, *knob, out);
  }
}

void manual_policy::set(const subject_view& subject, std::uint32_t knob, knob_value to, std::vector<proposal>& out) {
  // What a panel did not check, as in a recording that somebody wrote.
  if (!subject.info.knobs[knob].values.contains(to)) return;
  m_before[subject.info.id].try_emplace(knob, subject.accepted[knob]);
  out.push_back(setting_of(subject.info.id, knob, to, observe::words::decision_reason::set_by_hand));
}

void manual_policy::undo(const subject_view& subject, std::uint32_t knob, std::vector<proposal>& out) {
  const auto subject_before = m_before.find(subject.info.id);
  if (subject_before == m_before.end()) return;
  const auto before = subject_before->second.find(knob);
  if (before == subject_before->second.end()) return;
  out.push_back(setting_of(subject.info.id, knob, before->second, observe::words::decision_reason::undone_by_hand));
  subject_before->second.erase(before);
  out.back().is_released = subject_before->second.empty();
  if (out.back().is_released) m_before.erase(subject_before);
}

}  // namespace trimtab::steer
