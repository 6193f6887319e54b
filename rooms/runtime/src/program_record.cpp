#include "trimtab/runtime/program_record.hpp"

#include <trimtab.h>

#include <cstring>
#include <utility>

#include "trimtab/base/append_file.hpp"
#include "trimtab/base/clock.hpp"

namespace trimtab::task_steering {

namespace {

// trimtab.h as target. Where nothing is recorded it does nothing.
class program_target final : public steer::record_target {
 public:
  program_target(std::uint32_t runtime, std::shared_ptr<const std::map<steer::subject_id, std::uint32_t>> recorded)
      : m_first(std::uint64_t{runtime} << 32), m_recorded(std::move(recorded)) {}

  std::uint32_t add_knob(steer::subject_id subject, const char* name, const char* key, const char* value_names) override {
    return m_api != nullptr ? m_api->knob(recorded(subject), name, key, value_names) : 0;
  }
  std::uint16_t add_policy(const char* name) override {
    return m_api != nullptr ? static_cast<std::uint16_t>(m_api->policy(name)) : std::uint16_t{0};
  }
  void decide(const observe::decision& record) override {
    if (m_api == nullptr) return;
    trimtab_decision decision_made{};
    decision_made.bytes = sizeof decision_made;
    decision_made.subject = recorded(record.subject);
    // Each engine of a process counts from 1; in its records they are to be told apart.
    decision_made.number = m_first + record.number;
    decision_made.knob = record.knob;
    decision_made.policy = record.policy;
    decision_made.from = record.from;
    decision_made.to = record.to;
    decision_made.gain = record.gain;
    decision_made.uncertainty = record.uncertainty;
    decision_made.pairs = record.pairs;
    decision_made.outcome = static_cast<std::uint32_t>(record.outcome);
    decision_made.reason = record.text;
    decision_made.evidence = record.text + std::strlen(record.text) + 1;
    m_api->decide(&decision_made);
  }
  void fact(const char* key, const char* value) override {
    if (m_api != nullptr) m_api->fact(key, value);
  }
  void unavailable(const char* feature, const char* reason, const char* remedy) override {
    if (m_api != nullptr) m_api->unavailable(feature, reason, remedy);
  }

 private:
  std::uint32_t recorded(steer::subject_id subject) const {
    const auto match = m_recorded->find(subject);
    return match == m_recorded->end() ? 0 : match->second;
  }

  const trimtab_api* m_api = trimtab_steering_api();
  std::uint64_t m_first;
  std::shared_ptr<const std::map<steer::subject_id, std::uint32_t>> m_recorded;
};

// "runtime-1", "messages-1", "scheduler-1".
std::string name_of_engine(std::uint32_t number) {
  if (number >= first_scheduler_engine) return "scheduler-" + std::to_string(number - first_scheduler_engine + 1);
  if (number >= first_messages_engine) return "messages-" + std::to_string(number - first_messages_engine + 1);
  return "runtime-" + std::to_string(number);
}

}  // namespace

program_record::program_record(std::string name, std::uint32_t number, bool is_kept)
    : m_name(std::move(name)), m_is_kept(is_kept), m_record(std::make_unique<program_target>(number, m_recorded)) {}

void program_record::add(const steer::subject_info& subject, std::uint32_t recorded, const std::string& key) {
  (*m_recorded)[subject.id] = recorded;
  m_record.add(subject, key);
  m_subjects.insert_or_assign(subject.id, subject);
}

const steer::subject_info* program_record::find(steer::subject_id subject) const noexcept {
  const auto match = m_subjects.find(subject);
  return match == m_subjects.end() ? nullptr : &match->second;
}

std::uint32_t program_record::recorded(steer::subject_id subject) const noexcept {
  const auto decision_made = m_recorded->find(subject);
  return (decision_made == m_recorded->end() ? 0 : decision_made->second) - 1;
}

std::unique_ptr<steer::recording_writer> program_record::snapshots_of(const steer::recording_head& built) {
  const char* const folder = trimtab_snapshots_folder();
  if (folder == nullptr) return nullptr;
  std::string file = std::string(folder) + "/snapshots-" + name_of_engine(built.runtime) + ".txt";
  return std::make_unique<steer::recording_writer>(
      built, steer::recording_writer::into{
                 [file = std::move(file)](std::string_view text) { return base::append_file(file.c_str(), text); },
                 [](const std::string& reason) {
                   if (const trimtab_api* const api = trimtab_steering_api())
                     api->unavailable("further snapshots", reason.c_str(), "the run can be replayed until there");
                 }});
}

void program_record::write(const steer::decision& decision_made, bool is_applied) {
  const steer::subject_info* const subject_known = find(decision_made.subject);
  if (subject_known == nullptr) return;
  if (is_applied) m_record.write(decision_made, base::now());
  if (!m_is_kept) return;
  char at[32];
  std::snprintf(at, sizeof at, "at %.3f s ", decision_made.time_s);
  keep(at + describe(decision_made, *subject_known) + (is_applied ? "" : "; could not be applied"));
}

void program_record::write(const steer::engine& steering) {
  m_record.write(steering);
  for (const steer::policy_report& report : steering.reports())
    if (!report.is_enabled) keep("policy " + report.name + " was disabled: it " + report.why_disabled);
}

void program_record::unavailable(const char* feature, const char* reason, const char* remedy) {
  if (const trimtab_api* const api = trimtab_steering_api()) api->unavailable(feature, reason, remedy);
  keep(std::string(feature) + ": " + reason + "; " + remedy);
}

void program_record::advise(const std::string& policy, const std::string& reason) {
  if (const trimtab_api* const api = trimtab_steering_api())
    api->fact(("advice for " + m_name).c_str(), ("--trimtab:policy=" + policy + ": " + reason).c_str());
  keep("advice: try --trimtab:policy=" + policy + ": " + reason);
}

void program_record::keep(std::string line) {
  if (!m_is_kept) return;
  if (m_lines.size() < most_kept)
    m_lines.push_back(std::move(line));
  else
    m_left_out += 1;
}

void program_record::fact(const std::string& key, const std::string& value) {
  if (const trimtab_api* const api = trimtab_steering_api()) api->fact(key.c_str(), value.c_str());
}

void program_record::print(std::FILE* to) {
  std::fprintf(to, "trimtab: decisions on %s%s\n", m_name.c_str(), m_lines.empty() ? ": none" : "");
  for (const std::string& line : m_lines) std::fprintf(to, "%s\n", line.c_str());
  if (m_left_out != 0) std::fprintf(to, "and %zu more\n", m_left_out);
  m_lines.clear();
  m_left_out = 0;
}

}  // namespace trimtab::task_steering
