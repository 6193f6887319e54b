#include "trimtab/steer/manual_panel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "trimtab/steer/manual_policy.hpp"

namespace trimtab::steer {

using observe::knob_answer;
using observe::knob_request;

namespace {

// Events carry their value as a double; greater ones would not be exact.
constexpr knob_value most_exact = knob_value{1} << 53;

std::string text_of(const domain& values, std::size_t room) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string value = values.text_of(values.at(i));
    if (text.size() + value.size() + 2 > room) break;
    text.append(i == 0 ? "" : " ").append(value);
  }
  return text;
}

knob_answer refusal_of(const knob& turned, const observe::knob_wish& wish, bool is_by_hand) {
  if (wish.kind == knob_request::undo) return is_by_hand ? knob_answer::done : knob_answer::no_change;
  if (wish.kind != knob_request::set) return knob_answer::refused;
  if (!turned.values.contains(wish.value) || wish.value > most_exact || wish.value < -most_exact)
    return knob_answer::outside_domain;
  return turned.asks == consent::needed ? knob_answer::without_consent : knob_answer::done;
}

}  // namespace

bool manual_panel::is_created() {
  if (m_panel.is_open()) return true;
  if (m_place.folder.empty() || m_failure != 0) return false;
  m_failure = m_panel.create(m_place.folder.c_str(), m_place.engine.c_str());
  return m_failure == 0;
}

void manual_panel::add(const subject_info& subject, std::uint32_t recorded, const std::vector<std::uint32_t>& numbers) {
  if (!is_created()) return;
  for (std::uint32_t i = 0; i < subject.knobs.size() && i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    auto offered = m_slots.find(numbers[i]);
    if (offered == m_slots.end()) {
      observe::knob_slot fresh{};
      fresh.knob = numbers[i];
      fresh.subject = recorded;
      fresh.in_force = fresh.accepted = subject.knobs[i].initial;
      const auto slot = m_panel.add(fresh);
      if (!slot) return;
      m_entries.push_back({subject.knobs[i], subject.id, i});
      offered = m_slots.emplace(numbers[i], *slot).first;
    }
    m_entries[offered->second] = {subject.knobs[i], subject.id, i};
    describe(offered->second);
  }
  m_changed.push_back(subject.id);
}

void manual_panel::describe(std::size_t slot) {
  const entry& offered = m_entries[slot];
  observe::knob_slot& shown = m_panel.at(slot);
  const domain& values = offered.turned.values;
  shown.values = static_cast<std::uint32_t>(values.size());
  shown.least = values.at(0);
  shown.most = values.at(values.size() - 1);
  const std::string text = text_of(values, sizeof shown.text);
  std::memset(shown.text, 0, sizeof shown.text);
  std::memcpy(shown.text, text.data(), text.size());
  std::uint32_t flags = offered.has_left ? observe::knob_flags::gone : 0u;
  if (offered.is_by_hand) flags |= observe::knob_flags::by_hand;
  if (offered.turned.asks == consent::needed) flags |= observe::knob_flags::needs_consent;
  std::atomic_ref(shown.flags).store(flags, std::memory_order_release);
}

void manual_panel::show_values(subject_id subject) {
  const std::vector<knob_value> in_force = m_knobs.values(subject), accepted = m_knobs.accepted(subject);
  for (std::size_t slot = 0; slot < m_entries.size(); ++slot) {
    const entry& offered = m_entries[slot];
    if (offered.subject != subject || offered.has_left || offered.position >= in_force.size()) continue;
    std::atomic_ref(m_panel.at(slot).accepted).store(accepted[offered.position], std::memory_order_relaxed);
    std::atomic_ref(m_panel.at(slot).in_force).store(in_force[offered.position], std::memory_order_release);
  }
}

// What the step before made of its requests.
void manual_panel::answer_pending() {
  for (const subject_id subject : m_changed) show_values(subject);
  m_changed.clear();
  for (const waiting& pending : m_waiting) {
    const bool is_applied = pending.is_decided && pending.is_applied;
    entry& offered = m_entries[pending.slot];
    if (is_applied) offered.is_by_hand = pending.wish.kind == knob_request::set;
    describe(pending.slot);
    const bool is_same = pending.wish.kind == knob_request::set && m_panel.at(pending.slot).in_force == pending.wish.value;
    const knob_answer without_decision = offered.has_left ? knob_answer::subject_gone
                                         : is_same        ? knob_answer::no_change
                                                          : knob_answer::refused;
    m_panel.answer(pending.slot, pending.wish.number,
                   is_applied           ? knob_answer::done
                   : pending.is_decided ? knob_answer::not_applied
                                        : without_decision,
                   is_applied ? m_place.first_number + pending.decision : 0);
  }
  m_waiting.clear();
}

void manual_panel::accept(std::size_t slot, const observe::knob_wish& wish, snapshot& now) {
  const entry& offered = m_entries[slot];
  const knob_answer answer =
      offered.has_left ? knob_answer::subject_gone : refusal_of(offered.turned, wish, offered.is_by_hand);
  if (answer != knob_answer::done) return m_panel.answer(slot, wish.number, answer, 0);
  const bool is_set = wish.kind == knob_request::set;
  now.events.push_back({std::string(is_set ? events::set_by_hand : events::undo_by_hand) + offered.turned.name,
                        offered.subject, is_set ? static_cast<double>(wish.value) : 0});
  m_waiting.push_back({slot, wish});
}

void manual_panel::add_to(snapshot& now) {
  if (!m_panel.is_open()) return;
  answer_pending();
  for (const subject_id ended : now.gone)
    for (std::size_t slot = 0; slot < m_entries.size(); ++slot) {
      entry& offered = m_entries[slot];
      if (offered.subject != ended || std::any_of(now.appeared.begin(), now.appeared.end(),
                                                  [ended](const subject_info& fresh) { return fresh.id == ended; }))
        continue;
      offered.has_left = true;
      offered.is_by_hand = false;
      describe(slot);
    }
  for (std::size_t slot = 0; slot < m_entries.size(); ++slot)
    if (const auto wish = m_panel.request(slot)) accept(slot, *wish, now);
}

void manual_panel::decided(const decision& decision_made, bool is_applied) {
  if (!m_panel.is_open()) return;
  m_changed.push_back(decision_made.subject);
  if (decision_made.policy != observe::words::policy_name::by_hand || decision_made.what != outcome::set) return;
  // Several requests for a subject make a decision each, in their order.
  const auto pending = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const waiting& candidate) {
    const entry& offered = m_entries[candidate.slot];
    return !candidate.is_decided && offered.subject == decision_made.subject &&
           (decision_made.changes.empty() || decision_made.changes.front().knob == offered.position);
  });
  if (pending == m_waiting.end()) return;
  pending->is_decided = true;
  pending->is_applied = is_applied;
  pending->decision = decision_made.number;
}

}  // namespace trimtab::steer
