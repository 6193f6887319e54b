#include "trimtab/steer/recording.hpp"

#include <utility>

#include "snapshot_reader.hpp"
#include "trimtab/steer/log.hpp"

namespace trimtab::steer {

namespace {

// Takes lines until one is wrong.
class recording_reader {
 public:
  explicit recording_reader(recording& target) : m_into(target) {}
  std::string take(std::string_view line);  // what was expected, if it is not there
  void finish();

 private:
  bool take_head(std::string_view tag, words& rest, std::string_view text_after);
  bool take_step(std::string_view tag, words& rest);

  recording& m_into;
  snapshot_reader m_snapshots;
  recorded_step m_next;  // what stands before its snapshot
  bool m_has_engine = false;
};

std::string recording_reader::take(std::string_view line) {
  words rest(line);
  const std::string_view tag = rest.raw();
  const std::string_view text_after = line.substr(std::min(tag.size() + 1, line.size()));
  if (!m_has_engine && tag != "engine") return "'engine' and what it is built with";
  if (m_snapshots.is_open() || tag == "time") {
    std::string expected = m_snapshots.take(line);
    if (!expected.empty() || m_snapshots.is_open()) return expected;
    const decision_number decided = m_next.decided;
    m_into.steps.push_back(std::exchange(m_next, {}));
    m_next.decided = decided;
    return "";
  }
  if (take_step(tag, rest)) return rest.is_good() && rest.is_over() ? "" : "the words of '" + std::string(tag) + "'";
  if (m_into.steps.empty() && take_head(tag, rest, text_after)) return "";
  return "what a recording has here";
}

bool recording_reader::take_step(std::string_view tag, words& rest) {
  if (tag == "about") {
    recorded_subject fresh;
    fresh.id = rest.number<subject_id>();
    fresh.key = rest.text();
    fresh.recorded = rest.number<std::uint32_t>();
    m_next.about.push_back(std::move(fresh));
  } else if (tag == "answer") {
    m_next.answer = rest.text();
  } else if (tag == "fault") {
    m_next.fault = rest.text();
  } else if (tag == "decided") {
    m_next.decided = rest.number<decision_number>();
  } else if (tag == "unapplied" && !m_into.steps.empty()) {
    m_into.steps.back().unapplied.push_back(rest.number<decision_number>());
  } else {
    return false;
  }
  return true;
}

bool recording_reader::take_head(std::string_view tag, words& rest, std::string_view text_after) {
  recording_head& head = m_into.head;
  if (tag == "policy") {
    auto parsed = policy_from_line(text_after);
    if (!parsed) return false;
    head.policies.push_back(*std::move(parsed));
    return true;
  }
  if (tag == "setting") {
    auto parsed = setting_from_line(text_after);
    if (!parsed) return false;
    head.settings.push_back(*std::move(parsed));
    return true;
  }
  if (tag == "runtime") {
    head.runtime = rest.number<std::uint32_t>();
  } else if (tag == "engine" && !std::exchange(m_has_engine, true)) {
    head.budget_share = rest.real();
    head.allowance_s = rest.real();
    head.expected_excess = rest.real();
    const std::string_view consent_word = rest.raw();
    head.has_consent = consent_word == "ask";
    if (consent_word != "ask" && consent_word != "safe") return false;
  } else {
    return false;
  }
  return rest.is_good() && rest.is_over();
}

void recording_reader::finish() {
  std::vector<snapshot> snapshots = m_snapshots.whole();
  for (std::size_t i = 0; i < m_into.steps.size(); ++i) m_into.steps[i].told = std::move(snapshots[i]);
}

}  // namespace

recording_head head_of(const engine_options& options) {
  return {options.budget_share, options.allowance_s, options.expected_excess, options.has_consent, 0, {}, {}};
}

engine_options options_of(const recording_head& head) {
  engine_options result;
  result.budget_share = head.budget_share;
  result.allowance_s = head.allowance_s;
  result.expected_excess = head.expected_excess;
  result.has_consent = head.has_consent;
  return result;
}

std::string to_text(const recording_head& head) {
  std::string text = std::string(log_head) + "engine " + exactly(head.budget_share) + ' ' + exactly(head.allowance_s) + ' ' +
                     exactly(head.expected_excess) + (head.has_consent ? " ask\n" : " safe\n") + "runtime " +
                     std::to_string(head.runtime) + '\n';
  for (const policy_description& policy : head.policies) text += "policy " + to_line(policy) + '\n';
  for (const setting& saved : head.settings) text += "setting " + to_line(saved) + '\n';
  return text;
}

std::string to_text(const recorded_step& step, bool has_decided) {
  std::string text;
  for (const recorded_subject& subject : step.about)
    text +=
        "about " + std::to_string(subject.id) + ' ' + to_word(subject.key) + ' ' + std::to_string(subject.recorded) + '\n';
  if (step.answer) text += "answer " + to_word(*step.answer) + '\n';
  if (step.fault) text += "fault " + to_word(*step.fault) + '\n';
  if (has_decided) text += "decided " + std::to_string(step.decided) + '\n';
  return text + to_text(step.told);
}

recording recording_from_text(std::string_view text) {
  recording result;
  const auto wrong = [&result](int number, std::string_view expected, std::string_view line) {
    result.error = "line " + std::to_string(number) + ": expected ";
    result.error.append(expected).append(", found '").append(line.substr(0, 80)).append("'");
  };
  if (!text.starts_with(log_head)) {
    wrong(1, "'trimtab-snapshots 1'", text.substr(0, text.find('\n')));
    return result;
  }
  text.remove_prefix(log_head.size());
  recording_reader lines(result);
  for (int number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    const std::string_view line = text.substr(0, end);
    const std::string expected = lines.take(line);
    if (!expected.empty()) {
      wrong(number, expected, line);
      break;
    }
    text.remove_prefix(end + 1);
  }
  lines.finish();
  return result;
}

}  // namespace trimtab::steer
