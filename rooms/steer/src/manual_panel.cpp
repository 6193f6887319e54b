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
  if (wish.what == knob_request::undo) return is_by_hand ? knob_answer::done : knob_answer::no_change;
  if (wish.what != knob_request::set) return knob_answer::refused;
  if (!turned.values.contains(wish.value) || wish.value > most_exact || wish.value < -most_exact)
    return knob_answer::outside_domain;
  return turned.asks == consent::needed ? knob_answer::without_consent : knob_answer::done;
}

}  // namespace

bool manual_panel::is_created() {
  if (m_panel.is_open()) return true;
  if (m_where.folder.empty() || m_failure != 0) return false;
  m_failure = m_panel.create(m_where.folder.c_str(), m_where.engine.c_str());
  return m_failure == 0;
}

void manual_panel::add(const subject_info& subject, std::uint32_t recorded, const std::vector<std::uint32_t>& numbers) {
  if (!is_created()) return;
  for (std::uint32_t i = 0; i < subject.knobs.size() && i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    auto known = m_slots.find(numbers[i]);
    if (known == m_slots.end()) {
      observe::knob_slot fresh{};
      fresh.knob = numbers[i];
      fresh.subject = recorded;
      fresh.in_force = fresh.accepted = subject.knobs[i].initial;
      const auto slot = m_panel.add(fresh);
      if (!slot) return;
      m_entries.push_back({subject.knobs[i], subject.id, i});
      known = m_slots.emplace(numbers[i], *slot).first;
    }
    m_entries[known->second] = {subject.knobs[i], subject.id, i};
    describe(known->second);
  }
  m_changed.push_back(subject.id);
}

void manual_panel::describe(std::size_t slot) {
  const entry& known = m_entries[slot];
  observe::knob_slot& shown = m_panel.at(slot);
  const domain& values = known.turned.values;
  shown.values = static_cast<std::uint32_t>(values.size());
  shown.least = values.at(0);
  shown.most = values.at(values.size() - 1);
  const std::string text = text_of(values, sizeof shown.text);
  std::memset(shown.text, 0, sizeof shown.text);
  std::memcpy(shown.text, text.data(), text.size());
  std::uint32_t flags = known.is_gone ? observe::knob_flags::gone : 0u;
  if (known.is_by_hand) flags |= observe::knob_flags::by_hand;
  if (known.turned.asks == consent::needed) flags |= observe::knob_flags::needs_consent;
  std::atomic_ref(shown.flags).store(flags, std::memory_order_release);
}

void manual_panel::show_values(subject_id subject) {
  const std::vector<knob_value> in_force = m_knobs.values(subject), accepted = m_knobs.accepted(subject);
  for (std::size_t slot = 0; slot < m_entries.size(); ++slot) {
    const entry& known = m_entries[slot];
    if (known.subject != subject || known.is_gone || known.at >= in_force.size()) continue;
    std::atomic_ref(m_panel.at(slot).accepted).store(accepted[known.at], std::memory_order_relaxed);
    std::atomic_ref(m_panel.at(slot).in_force).store(in_force[known.at], std::memory_order_release);
  }
}

// What the step before made of its requests.
void manual_panel::finish() {
  for (const subject_id subject : m_changed) show_values(subject);
  m_changed.clear();
  for (const waiting& waiting_request : m_waiting) {
    const bool is_done = waiting_request.is_decided && waiting_request.is_applied;
    entry& known = m_entries[waiting_request.slot];
    if (is_done) known.is_by_hand = waiting_request.wish.what == knob_request::set;
    describe(waiting_request.slot);
    const bool is_same = waiting_request.wish.what == knob_request::set &&
                         m_panel.at(waiting_request.slot).in_force == waiting_request.wish.value;
    const knob_answer without_decision = known.is_gone ? knob_answer::subject_gone
                                         : is_same     ? knob_answer::no_change
                                                       : knob_answer::refused;
    m_panel.answer(waiting_request.slot, waiting_request.wish.number,
                   is_done                      ? knob_answer::done
                   : waiting_request.is_decided ? knob_answer::not_applied
                                                : without_decision,
                   is_done ? m_where.first_number + waiting_request.decision : 0);
  }
  m_waiting.clear();
}

void manual_panel::take(std::size_t slot, const observe::knob_wish& wish, snapshot& now) {
  const entry& known = m_entries[slot];
  const knob_answer answer = known.is_gone ? knob_answer::subject_gone : refusal_of(known.turned, wish, known.is_by_hand);
  if (answer != knob_answer::done) return m_panel.answer(slot, wish.number, answer, 0);
  const bool is_set = wish.what == knob_request::set;
  now.events.push_back({std::string(is_set ? events::set_by_hand : events::undo_by_hand) + known.turned.name, known.subject,
                        is_set ? static_cast<double>(wish.value) : 0});
  m_waiting.push_back({slot, wish});
}

void manual_panel::add_to(snapshot& now) {
  if (!m_panel.is_open()) return;
  finish();
  for (const subject_id gone : now.gone)
    for (std::size_t slot = 0; slot < m_entries.size(); ++slot) {
      entry& known = m_entries[slot];
      if (known.subject != gone || std::any_of(now.appeared.begin(), now.appeared.end(),
                                               [gone](const subject_info& fresh) { return fresh.id == gone; }))
        continue;
      known.is_gone = true;
      known.is_by_hand = false;
      describe(slot);
    }
  for (std::size_t slot = 0; slot < m_entries.size(); ++slot)
    if (const auto wish = m_panel.request(slot)) take(slot, *wish, now);
}

void manual_panel::decided(const decision& decision_made, bool is_applied) {
  if (!m_panel.is_open()) return;
  m_changed.push_back(decision_made.subject);
  if (decision_made.policy != observe::words::policy_name::by_hand || decision_made.what != outcome::set) return;
  // Several requests for a subject make a decision each, in their order.
  const auto waiting_request = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const waiting& candidate) {
    const entry& known = m_entries[candidate.slot];
    return !candidate.is_decided && known.subject == decision_made.subject &&
           (decision_made.changes.empty() || decision_made.changes.front().knob == known.at);
  });
  if (waiting_request == m_waiting.end()) return;
  waiting_request->is_decided = true;
  waiting_request->is_applied = is_applied;
  waiting_request->decision = decision_made.number;
}

}  // namespace trimtab::steer
