#include "trimtab/steer/log.hpp"

#include "log_words.hpp"
#include "snapshot_reader.hpp"

namespace trimtab::steer {

namespace {

void write_knob(std::string& to, const knob& knob) {
  to += "knob " + to_word(knob.name) + ' ' + std::to_string(knob.initial) + ' ' + exactly(knob.change_cost_s) +
        (knob.asks == consent::safe ? " safe " : " ask ") + std::to_string(knob.settle) +
        (knob.values.is_ordered() ? " numbers" : " names");
  for (std::size_t i = 0; i < knob.values.size(); ++i) to += ' ' + to_word(knob.values.text_of(knob.values.at(i)));
  to += '\n';
  for (const remedy& remedy : knob.remedies) {
    to += "remedy " + to_word(remedy.cause);
    for (const knob_value value : remedy.values) to += ' ' + std::to_string(value);
    to += '\n';
  }
}

void write_figure(std::string& to, std::string_view tag, const figure& figure) {
  to += std::string(tag) + ' ' + to_word(figure.name) + ' ' + exactly(figure.value) + '\n';
}

}  // namespace

std::string to_text(const snapshot& shared_state) {
  std::string text = "time " + exactly(shared_state.time_s) + (shared_state.is_last ? " last\n" : "\n");
  for (const subject_info& subject : shared_state.appeared) {
    text += "appeared " + std::to_string(subject.id) + ' ' + to_word(subject.name);
    text += subject.group == 0 ? "\n" : ' ' + std::to_string(subject.group) + '\n';
    for (const knob& knob : subject.knobs) write_knob(text, knob);
  }
  for (const subject_id gone : shared_state.gone) text += "gone " + std::to_string(gone) + '\n';
  for (const decision_number number : shared_state.not_applied) text += "refused " + std::to_string(number) + '\n';
  for (const std::string& name : shared_state.overdue) text += "overdue " + to_word(name) + '\n';
  for (const figure& figure : shared_state.figures) write_figure(text, "figure", figure);
  for (const event& event : shared_state.events)
    text += "event " + to_word(event.name) + ' ' + std::to_string(event.subject) + ' ' + exactly(event.value) + '\n';
  for (const subject_state& subject : shared_state.subjects) {
    text += "subject " + std::to_string(subject.id) + '\n';
    for (const measurement& measurement : subject.measured)
      text += "measured " + std::to_string(measurement.under) + ' ' + exactly(measurement.value) + ' ' +
              exactly(measurement.seconds) +
              (measurement.beside == 0 ? "\n" : ' ' + std::to_string(measurement.beside) + '\n');
    for (const figure& figure : subject.figures) write_figure(text, "its", figure);
  }
  return text + "end\n";
}

parsed_log from_text(std::string_view text) {
  parsed_log result;
  if (!text.starts_with(log_head)) {
    result.error = "line 1: expected '" + std::string(log_head.substr(0, log_head.size() - 1)) + "', found '" +
                   std::string(text.substr(0, std::min(text.find('\n'), std::size_t{40}))) + "'";
    return result;
  }
  text.remove_prefix(log_head.size());
  snapshot_reader lines;
  for (int number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const bool is_cut_off = end == std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    const std::string expected = is_cut_off ? "" : lines.take(line);
    if (!expected.empty())
      result.error =
          "line " + std::to_string(number) + ": expected " + expected + ", found '" + std::string(line.substr(0, 80)) + "'";
    if (is_cut_off || !expected.empty()) break;
    text.remove_prefix(end + 1);
  }
  result.snapshots = lines.whole();
  return result;
}

}  // namespace trimtab::steer
