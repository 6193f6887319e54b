#include "trimtab/steer/record.hpp"

#include <cstdio>

#include "trimtab/observe/decision_text.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::steer {

namespace {

std::string text_of(const std::vector<figure>& figures) {
  std::string text;
  for (const figure& figure : figures) {
    char value[32];
    std::snprintf(value, sizeof value, "%.6g", figure.value);
    if (!text.empty()) text += ' ';
    text.append(figure.name).append("=").append(value);
  }
  return text;
}

}  // namespace

void decision_record::add(const subject_info& subject, std::string_view key) {
  std::vector<std::uint32_t>& numbers = m_knobs[subject.id];
  const std::string its_key(key);
  for (std::size_t next = numbers.size(); next < subject.knobs.size(); ++next) {
    const knob& knob = subject.knobs[next];
    std::string names;
    if (!knob.values.is_ordered())
      for (std::size_t i = 0; i < knob.values.size(); ++i)
        names.append(i == 0 ? "" : ",").append(knob.values.text_of(knob.values.at(i)));
    numbers.push_back(m_into->add_knob(subject.id, knob.name.c_str(), its_key.c_str(), names.c_str()));
  }
}

void decision_record::write(const decision& decision_made, base::ticks at) {
  const auto knobs = m_knobs.find(decision_made.subject);
  if (knobs == m_knobs.end()) return;
  observe::decision record{};
  if (!decision_made.policy.empty()) {
    const auto [its, is_new] = m_policies.try_emplace(decision_made.policy);
    if (is_new) its->second = m_into->add_policy(decision_made.policy.c_str());
    record.policy = its->second;
  }
  record.ticks = at;
  record.number = decision_made.number;
  record.subject = decision_made.subject;
  record.gain = decision_made.gain.gain;
  record.uncertainty = decision_made.gain.uncertainty;
  record.pairs = decision_made.gain.pairs;
  record.outcome = static_cast<observe::decision_outcome>(decision_made.what);
  observe::write_text(record, decision_made.reason, text_of(decision_made.evidence));
  for (const change& change : decision_made.changes) {
    if (change.knob >= knobs->second.size()) continue;
    record.knob = knobs->second[change.knob];
    record.from = change.from;
    record.to = change.to;
    m_into->decide(record);
  }
}

void decision_record::write(const engine& steering) {
  for (const policy_report& report : steering.reports())
    if (!report.is_enabled && m_told.try_emplace(report.name, true).second)
      m_into->unavailable((std::string(observe::words::missing_kind::policy) + ' ' + report.name).c_str(),
                          ("it " + report.why_disabled).c_str(),
                          "the run went on without it; what it had on trial was undone");
  const engine_counts& counts = steering.counts();
  const std::pair<const char*, double> facts[] = {
      {"steering: cost of search, s", steering.spent().spent_s()},
      {"steering: refused, budget", static_cast<double>(counts.budget)},
      {"steering: refused, consent", static_cast<double>(counts.consent)},
      {"steering: refused, subject of another policy", static_cast<double>(counts.others)},
      {"steering: refused, subject gone", static_cast<double>(counts.gone)},
      {"steering: refused, knob stuck", static_cast<double>(counts.stuck)},
      {"steering: measurements left out", static_cast<double>(counts.bad_measurements)},
      {"steering: measurements beside a trial", static_cast<double>(counts.beside_trials)},
  };
  for (const auto& [name, value] : facts) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    m_into->fact(name, text);
  }
}

}  // namespace trimtab::steer
