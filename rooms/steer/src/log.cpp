#include "trimtab/steer/log.hpp"

#include "log_words.hpp"
#include "snapshot_reader.hpp"

namespace trimtab::steer {

namespace {

void write_knob(std::string& to, const knob& one) {
  to += "knob " + to_word(one.name) + ' ' + std::to_string(one.initial) + ' ' + exactly(one.change_cost_s) +
        (one.asks == consent::safe ? " safe " : " ask ") + std::to_string(one.settle) +
        (one.values.is_ordered() ? " numbers" : " names");
  for (std::size_t i = 0; i < one.values.size(); ++i) to += ' ' + to_word(one.values.text_of(one.values.at(i)));
  to += '\n';
  for (const remedy& each : one.remedies) {
    to += "remedy " + to_word(each.cause);
    for (const knob_value value : each.values) to += ' ' + std::to_string(value);
    to += '\n';
  }
}

void write_figure(std::string& to, std::string_view tag, const figure& one) {
  to += std::string(tag) + ' ' + to_word(one.name) + ' ' + exactly(one.value) + '\n';
}

}  // namespace

std::string to_text(const snapshot& one) {
  std::string text = "time " + exactly(one.time_s) + (one.is_last ? " last\n" : "\n");
  for (const subject_info& each : one.appeared) {
    text += "appeared " + std::to_string(each.id) + ' ' + to_word(each.name);
    text += each.group == 0 ? "\n" : ' ' + std::to_string(each.group) + '\n';
    for (const knob& its : each.knobs) write_knob(text, its);
  }
  for (const subject_id each : one.gone) text += "gone " + std::to_string(each) + '\n';
  for (const decision_number each : one.not_applied) text += "refused " + std::to_string(each) + '\n';
  for (const std::string& each : one.overdue) text += "overdue " + to_word(each) + '\n';
  for (const figure& each : one.figures) write_figure(text, "figure", each);
  for (const event& each : one.events)
    text += "event " + to_word(each.name) + ' ' + std::to_string(each.subject) + ' ' + exactly(each.value) + '\n';
  for (const subject_state& subject : one.subjects) {
    text += "subject " + std::to_string(subject.id) + '\n';
    for (const measurement& taken : subject.measured)
      text += "measured " + std::to_string(taken.under) + ' ' + exactly(taken.value) + ' ' + exactly(taken.seconds) +
              (taken.beside == 0 ? "\n" : ' ' + std::to_string(taken.beside) + '\n');
    for (const figure& its : subject.figures) write_figure(text, "its", its);
  }
  return text + "end\n";
}

parsed_log from_text(std::string_view text) {
  parsed_log found;
  if (!text.starts_with(log_head)) {
    found.error = "line 1: expected '" + std::string(log_head.substr(0, log_head.size() - 1)) + "', found '" +
                  std::string(text.substr(0, std::min(text.find('\n'), std::size_t{40}))) + "'";
    return found;
  }
  text.remove_prefix(log_head.size());
  snapshot_reader lines;
  for (int number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const bool is_cut_off = end == std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    const std::string expected = is_cut_off ? "" : lines.take(line);
    if (!expected.empty())
      found.error =
          "line " + std::to_string(number) + ": expected " + expected + ", found '" + std::string(line.substr(0, 80)) + "'";
    if (is_cut_off || !expected.empty()) break;
    text.remove_prefix(end + 1);
  }
  found.snapshots = lines.whole();
  return found;
}

}  // namespace trimtab::steer
