#include "trimtab/steer/log.hpp"

#include <cstdio>

#include "log_words.hpp"

namespace trimtab::steer {

namespace {

std::string exactly(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

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

// One line at a time; what belongs together is put together by where it stands.
class reader {
 public:
  std::string take(std::string_view line);  // what was expected, if it is not there
  // Without the last one, where its end was not reached.
  std::vector<snapshot> whole() {
    if (m_is_open) m_all.pop_back();
    return std::move(m_all);
  }

 private:
  bool take_fact(std::string_view tag, words& rest);
  bool take_knob(words& rest);
  bool take_remedy(words& rest);
  bool take_of_subject(std::string_view tag, words& rest);

  std::vector<snapshot> m_all;
  bool m_is_open = false;
};

std::string reader::take(std::string_view line) {
  words rest(line);
  const std::string_view tag = rest.raw();
  if (tag == "time" && !m_is_open) {
    m_is_open = true;
    snapshot fresh;
    fresh.time_s = rest.real();
    const bool is_more = !rest.is_over();
    fresh.is_last = is_more && rest.raw() == "last";
    m_all.push_back(std::move(fresh));
    return rest.is_good() && rest.is_over() && is_more == m_all.back().is_last ? "" : "time and perhaps 'last'";
  }
  if (!m_is_open) return "'time' to begin a snapshot";
  if (tag == "end") {
    m_is_open = false;
    return rest.is_over() ? "" : "nothing behind 'end'";
  }
  const bool is_known = take_fact(tag, rest) || take_of_subject(tag, rest) || (tag == "knob" && take_knob(rest)) ||
                        (tag == "remedy" && take_remedy(rest));
  if (!is_known) return "a fact";
  return rest.is_good() && rest.is_over() ? "" : "the words of '" + std::string(tag) + "'";
}

bool reader::take_fact(std::string_view tag, words& rest) {
  snapshot& now = m_all.back();
  if (tag == "appeared") {
    subject_info fresh;
    fresh.id = rest.number<subject_id>();
    fresh.name = rest.text();
    if (!rest.is_over()) fresh.group = rest.number<std::uint64_t>();
    now.appeared.push_back(std::move(fresh));
  } else if (tag == "gone") {
    now.gone.push_back(rest.number<subject_id>());
  } else if (tag == "refused") {
    now.not_applied.push_back(rest.number<decision_number>());
  } else if (tag == "overdue") {
    now.overdue.push_back(rest.text());
  } else if (tag == "subject") {
    now.subjects.push_back({rest.number<subject_id>(), {}, {}});
  } else if (tag == "figure") {
    std::string name = rest.text();
    now.figures.push_back({std::move(name), rest.real()});
  } else if (tag == "event") {
    event fresh;
    fresh.name = rest.text();
    fresh.subject = rest.number<subject_id>();
    fresh.value = rest.real();
    now.events.push_back(std::move(fresh));
  } else {
    return false;
  }
  return true;
}

bool reader::take_of_subject(std::string_view tag, words& rest) {
  if (m_all.back().subjects.empty()) return false;
  subject_state& of = m_all.back().subjects.back();
  if (tag == "measured") {
    measurement fresh;
    fresh.under = rest.number<decision_number>();
    fresh.value = rest.real();
    fresh.seconds = rest.real();
    if (!rest.is_over()) fresh.beside = rest.number<decision_number>();
    of.measured.push_back(fresh);
  } else if (tag == "its") {
    std::string name = rest.text();
    of.figures.push_back({std::move(name), rest.real()});
  } else {
    return false;
  }
  return true;
}

bool reader::take_knob(words& rest) {
  if (m_all.back().appeared.empty()) return false;
  std::string name = rest.text();
  const auto initial = rest.number<knob_value>();
  const double cost = rest.real();
  const std::string_view asks = rest.raw();
  const auto settle = rest.number<std::uint32_t>();
  const std::string_view kind = rest.raw();
  std::vector<knob_value> numbers;
  std::vector<std::string> names;
  while (!rest.is_over() && rest.is_good()) {
    if (kind == "numbers")
      numbers.push_back(rest.number<knob_value>());
    else
      names.push_back(rest.text());
  }
  const auto values = kind == "numbers" ? domain::set(std::move(numbers)) : domain::categories(std::move(names));
  if (!values || (asks != "safe" && asks != "ask") || (kind != "numbers" && kind != "names")) return false;
  m_all.back().appeared.back().knobs.push_back(
      {std::move(name), *values, initial, cost, asks == "ask" ? consent::needed : consent::safe, settle, {}});
  return true;
}

bool reader::take_remedy(words& rest) {
  if (m_all.back().appeared.empty() || m_all.back().appeared.back().knobs.empty()) return false;
  remedy fresh{rest.text(), {}};
  while (!rest.is_over() && rest.is_good()) fresh.values.push_back(rest.number<knob_value>());
  m_all.back().appeared.back().knobs.back().remedies.push_back(std::move(fresh));
  return true;
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
  for (const subject_state& each : one.subjects) {
    text += "subject " + std::to_string(each.id) + '\n';
    for (const measurement& taken : each.measured)
      text += "measured " + std::to_string(taken.under) + ' ' + exactly(taken.value) + ' ' + exactly(taken.seconds) +
              (taken.beside == 0 ? "\n" : ' ' + std::to_string(taken.beside) + '\n');
    for (const figure& its : each.figures) write_figure(text, "its", its);
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
  reader lines;
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
