#include "outside_text.hpp"

#include <charconv>
#include <stdexcept>

#include "trimtab/steer/json_text.hpp"
#include "trimtab/steer/log.hpp"

namespace trimtab::steer {

namespace {

constexpr std::size_t most_values = 1024;  // of a domain, that are told
constexpr std::size_t most_proposals = 1000;
constexpr double shortest_period_s = 0.02, longest_period_s = 3600;
constexpr std::string_view head = "trimtab-proposals 1 ";

void add(json& target, const knob& knob, knob_value in_force, knob_value accepted) {
  target.next().raw("{");
  target.name("name").text(knob.name).name("is_ordered").truth(knob.values.is_ordered());
  target.name("needs_consent").truth(knob.asks == consent::needed);
  target.name("initial").text(knob.values.text_of(knob.initial)).name("in_force").text(knob.values.text_of(in_force));
  target.name("accepted").text(knob.values.text_of(accepted)).name("values").raw("[");
  const std::size_t step = (knob.values.size() + most_values - 1) / most_values;
  for (std::size_t i = 0; i < knob.values.size(); i += step) target.next().text(knob.values.text_of(knob.values.at(i)));
  target.raw("]}");
}

std::string word_of(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const auto word = from_word(rest.substr(0, end));
  if (!word || end == 0) throw std::runtime_error("answered with something that is no line of words");
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return *word;
}

template <class number>
number number_of(std::string_view text, const char* quantity) {
  number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error(std::string("answered with '").append(text.substr(0, 40)).append("' in the place of ") +
                             quantity);
  return value;
}

outcome outcome_named(std::string_view name) {
  for (const outcome each : {outcome::trial, outcome::kept, outcome::undone, outcome::set})
    if (name_of(each) == name) return each;
  throw std::runtime_error("proposed '" + std::string(name.substr(0, 40)) + "', expected trial, kept, undone or set");
}

proposed_change change_of(const subject_view& subject, std::string_view word) {
  const std::size_t at = word.find('=');
  const std::string_view name = word.substr(0, at);
  for (std::uint32_t i = 0; at != std::string_view::npos && i < subject.info.knobs.size(); ++i) {
    const knob& knob = subject.info.knobs[i];
    if (knob.name != name) continue;
    if (const auto value = knob.values.value_of(word.substr(at + 1))) return {i, *value};
    throw std::runtime_error("proposed " + std::string(word.substr(0, 80)) + " for " + subject.info.name +
                             ", which is outside its domain");
  }
  throw std::runtime_error("proposed '" + std::string(word.substr(0, 80)) + "' for " + subject.info.name +
                           ", which has no such knob");
}

proposal proposal_of(std::string_view line, const view& now) {
  proposal proposed;
  proposed.what = outcome_named(word_of(line));
  proposed.subject = number_of<subject_id>(word_of(line), "a subject's number");
  proposed.reason = word_of(line);
  const subject_view* const subject = now.find(proposed.subject);
  // The engine knows whether it is gone or never was.
  if (subject == nullptr) return proposed;
  while (!line.empty()) proposed.changes.push_back(change_of(*subject, word_of(line)));
  return proposed;
}

// PERIOD EVENT...; '-' in the place of the period: only with the events.
cadence cadence_of(std::string_view line) {
  cadence result;
  const std::string period = word_of(line);
  while (!line.empty()) result.triggers.push_back(word_of(line));
  if (period == "-") {
    if (result.triggers.empty()) throw std::runtime_error("asked to be called at no time and with no event");
    return result;
  }
  result.period_s = number_of<double>(period, "seconds between two calls");
  if (!(result.period_s >= shortest_period_s && result.period_s <= longest_period_s))
    throw std::runtime_error("asked to be called every " + period + " s, expected 0.02 to 3600");
  return result;
}

}  // namespace

std::string snapshot_text(std::uint64_t number, const view& now, const measured_by_subject& measured,
                          const std::vector<event>& happened,
                          const std::function<std::string(const subject_info&)>& key_of) {
  json text;
  text.raw("{").name("format").number(std::uint64_t{1}).name("number").number(number);
  text.name("time_s").number(now.time_s).name("is_last").truth(now.is_last);
  text.name("budget_left_s").number(now.budget_left_s).name("has_consent").truth(now.has_consent);
  text.all("figures", now.figures).name("events").raw("[");
  for (const event& happening : happened) {
    text.next().raw("{").name("name").text(happening.name).name("subject").number(std::uint64_t{happening.subject});
    text.name("value").number(happening.value).raw("}");
  }
  text.raw("]").name("subjects").raw("[");
  for (const subject_view& subject : now.subjects) {
    text.next().raw("{").name("id").number(std::uint64_t{subject.info.id}).name("name").text(subject.info.name);
    text.name("key").text(key_of(subject.info)).name("since").number(subject.since);
    text.name("is_others").truth(subject.is_others).name("has_level").truth(subject.has_level);
    text.all("figures", subject.figures).name("knobs").raw("[");
    for (std::size_t i = 0; i < subject.info.knobs.size(); ++i)
      add(text, subject.info.knobs[i], subject.in_force[i], subject.accepted[i]);
    text.raw("]").name("measured").raw("[");
    const auto match = measured.find(subject.info.id);
    if (match != measured.end())
      for (const measurement& measurement : match->second)
        text.next()
            .raw("[")
            .number(measurement.under)
            .raw(",")
            .number(measurement.value)
            .raw(",")
            .number(measurement.seconds)
            .raw("]");
    text.raw("]}");
  }
  return text.raw("]}\n").take();
}

std::optional<outside_answer> read_answer(const std::string& text, std::uint64_t number, const view& now) {
  outside_answer answer;
  std::string_view rest = text;
  const auto line_of = [&] {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  const std::string_view first = line_of();
  if (!first.starts_with(head))
    throw std::runtime_error("answered with something that does not begin with trimtab-proposals 1");
  if (number_of<std::uint64_t>(first.substr(head.size()), "a snapshot's number") != number) return std::nullopt;
  while (!rest.empty()) {
    std::string_view line = line_of();
    if (line.starts_with("failed ")) {
      line.remove_prefix(7);
      throw std::runtime_error(word_of(line));
    }
    if (line.starts_with("when ")) {
      line.remove_prefix(5);
      answer.when = cadence_of(line);
      continue;
    }
    if (answer.proposals.size() == most_proposals) throw std::runtime_error("proposed more than 1000 things at once");
    answer.proposals.push_back(proposal_of(line, now));
  }
  return answer;
}

}  // namespace trimtab::steer
