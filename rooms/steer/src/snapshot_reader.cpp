#include "snapshot_reader.hpp"

namespace trimtab::steer {

std::string snapshot_reader::take(std::string_view line) {
  words rest(line);
  const std::string_view tag = rest.raw();
  if (tag == "time" && !m_is_open) {
    m_is_open = true;
    snapshot fresh;
    fresh.time_s = rest.real();
    const bool has_rest = !rest.is_over();
    fresh.is_last = has_rest && rest.raw() == "last";
    m_all.push_back(std::move(fresh));
    return rest.is_good() && rest.is_over() && has_rest == m_all.back().is_last ? "" : "time and perhaps 'last'";
  }
  if (!m_is_open) return "'time' to begin a snapshot";
  if (tag == "end") {
    m_is_open = false;
    return rest.is_over() ? "" : "nothing behind 'end'";
  }
  const bool is_understood = take_fact(tag, rest) || take_of_subject(tag, rest) || (tag == "knob" && take_knob(rest)) ||
                             (tag == "remedy" && take_remedy(rest));
  if (!is_understood) return "a fact";
  return rest.is_good() && rest.is_over() ? "" : "the words of '" + std::string(tag) + "'";
}

bool snapshot_reader::take_fact(std::string_view tag, words& rest) {
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

bool snapshot_reader::take_of_subject(std::string_view tag, words& rest) {
  if (m_all.back().subjects.empty()) return false;
  subject_state& subject = m_all.back().subjects.back();
  if (tag == "measured") {
    measurement fresh;
    fresh.under = rest.number<decision_number>();
    fresh.value = rest.real();
    fresh.seconds = rest.real();
    if (!rest.is_over()) fresh.beside = rest.number<decision_number>();
    subject.measured.push_back(fresh);
  } else if (tag == "its") {
    std::string name = rest.text();
    subject.figures.push_back({std::move(name), rest.real()});
  } else {
    return false;
  }
  return true;
}

bool snapshot_reader::take_knob(words& rest) {
  if (m_all.back().appeared.empty()) return false;
  std::string name = rest.text();
  const auto initial = rest.number<knob_value>();
  const double cost = rest.real();
  const std::string_view consent_word = rest.raw();
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
  if (!values || (consent_word != "safe" && consent_word != "ask") || (kind != "numbers" && kind != "names")) return false;
  m_all.back().appeared.back().knobs.push_back(
      {std::move(name), *values, initial, cost, consent_word == "ask" ? consent::needed : consent::safe, settle, {}});
  return true;
}

bool snapshot_reader::take_remedy(words& rest) {
  if (m_all.back().appeared.empty() || m_all.back().appeared.back().knobs.empty()) return false;
  remedy fresh{rest.text(), {}};
  while (!rest.is_over() && rest.is_good()) fresh.values.push_back(rest.number<knob_value>());
  m_all.back().appeared.back().knobs.back().remedies.push_back(std::move(fresh));
  return true;
}

}  // namespace trimtab::steer
