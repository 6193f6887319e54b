#include "trimtab/steer/record.hpp"

#include <cstdio>

#include "trimtab/observe/decision_text.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::steer {

namespace {

std::string text_of(const std::vector<figure>& figures) {
  std::string text;
  for (const figure& each : figures) {
    char value[32];
    std::snprintf(value, sizeof value, "%.6g", each.value);
    if (!text.empty()) text += ' ';
    text.append(each.name).append("=").append(value);
  }
  return text;
}

}  // namespace

void decision_record::add(const subject_info& subject, std::string_view key) {
  std::vector<std::uint32_t>& known = m_knobs[subject.id];
  const std::string its_key(key);
  for (std::size_t next = known.size(); next < subject.knobs.size(); ++next) {
    const knob& each = subject.knobs[next];
    std::string names;
    if (!each.values.is_ordered())
      for (std::size_t i = 0; i < each.values.size(); ++i)
        names.append(i == 0 ? "" : ",").append(each.values.text_of(each.values.at(i)));
    known.push_back(m_into->add_knob(subject.id, each.name.c_str(), its_key.c_str(), names.c_str()));
  }
}

void decision_record::write(const decision& made, base::ticks at) {
  const auto knobs = m_knobs.find(made.subject);
  if (knobs == m_knobs.end()) return;
  observe::decision record{};
  if (!made.policy.empty()) {
    const auto [its, is_new] = m_policies.try_emplace(made.policy);
    if (is_new) its->second = m_into->add_policy(made.policy.c_str());
    record.policy = its->second;
  }
  record.ticks = at;
  record.number = made.number;
  record.subject = made.subject;
  record.gain = made.gain.gain;
  record.uncertainty = made.gain.uncertainty;
  record.pairs = made.gain.pairs;
  record.outcome = static_cast<observe::decision_outcome>(made.what);
  observe::write_text(record, made.reason, text_of(made.evidence));
  for (const change& each : made.changes) {
    if (each.knob >= knobs->second.size()) continue;
    record.knob = knobs->second[each.knob];
    record.from = each.from;
    record.to = each.to;
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
