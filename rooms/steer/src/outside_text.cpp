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

void add(json& into, const knob& its, knob_value in_force, knob_value accepted) {
  into.next().raw("{");
  into.name("name").text(its.name).name("is_ordered").truth(its.values.is_ordered());
  into.name("needs_consent").truth(its.asks == consent::needed);
  into.name("initial").text(its.values.text_of(its.initial)).name("in_force").text(its.values.text_of(in_force));
  into.name("accepted").text(its.values.text_of(accepted)).name("values").raw("[");
  const std::size_t step = (its.values.size() + most_values - 1) / most_values;
  for (std::size_t i = 0; i < its.values.size(); i += step) into.next().text(its.values.text_of(its.values.at(i)));
  into.raw("]}");
}

std::string word_of(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const auto word = from_word(rest.substr(0, end));
  if (!word || end == 0) throw std::runtime_error("answered with something that is no line of words");
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return *word;
}

template <class number>
number number_of(std::string_view text, const char* what) {
  number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error(std::string("answered with '").append(text.substr(0, 40)).append("' in the place of ") + what);
  return value;
}

outcome outcome_named(std::string_view name) {
  for (const outcome each : {outcome::trial, outcome::kept, outcome::undone, outcome::set})
    if (name_of(each) == name) return each;
  throw std::runtime_error("proposed '" + std::string(name.substr(0, 40)) + "', expected trial, kept, undone or set");
}

proposed_change change_of(const subject_view& on, std::string_view word) {
  const std::size_t at = word.find('=');
  const std::string_view name = word.substr(0, at);
  for (std::uint32_t i = 0; at != std::string_view::npos && i < on.info.knobs.size(); ++i) {
    const knob& its = on.info.knobs[i];
    if (its.name != name) continue;
    if (const auto value = its.values.value_of(word.substr(at + 1))) return {i, *value};
    throw std::runtime_error("proposed " + std::string(word.substr(0, 80)) + " for " + on.info.name +
                             ", which is outside its domain");
  }
  throw std::runtime_error("proposed '" + std::string(word.substr(0, 80)) + "' for " + on.info.name +
                           ", which has no such knob");
}

proposal proposal_of(std::string_view line, const view& now) {
  proposal made;
  made.what = outcome_named(word_of(line));
  made.subject = number_of<subject_id>(word_of(line), "a subject's number");
  made.reason = word_of(line);
  const subject_view* const on = now.find(made.subject);
  // The engine knows whether it is gone or never was.
  if (on == nullptr) return made;
  while (!line.empty()) made.changes.push_back(change_of(*on, word_of(line)));
  return made;
}

// PERIOD EVENT...; '-' in the place of the period: only with the events.
cadence cadence_of(std::string_view line) {
  cadence made;
  const std::string period = word_of(line);
  while (!line.empty()) made.triggers.push_back(word_of(line));
  if (period == "-") {
    if (made.triggers.empty()) throw std::runtime_error("asked to be called at no time and with no event");
    return made;
  }
  made.period_s = number_of<double>(period, "seconds between two calls");
  if (!(made.period_s >= shortest_period_s && made.period_s <= longest_period_s))
    throw std::runtime_error("asked to be called every " + period + " s, expected 0.02 to 3600");
  return made;
}

}  // namespace

std::string snapshot_text(std::uint64_t number, const view& now, const measured_by_subject& measured,
                          const std::vector<event>& happened,
                          const std::function<std::string(const subject_info&)>& key_of) {
  json into;
  into.raw("{").name("format").number(std::uint64_t{1}).name("number").number(number);
  into.name("time_s").number(now.time_s).name("is_last").truth(now.is_last);
  into.name("budget_left_s").number(now.budget_left_s).name("has_consent").truth(now.has_consent);
  into.all("figures", now.figures).name("events").raw("[");
  for (const event& each : happened) {
    into.next().raw("{").name("name").text(each.name).name("subject").number(std::uint64_t{each.subject});
    into.name("value").number(each.value).raw("}");
  }
  into.raw("]").name("subjects").raw("[");
  for (const subject_view& subject : now.subjects) {
    into.next().raw("{").name("id").number(std::uint64_t{subject.info.id}).name("name").text(subject.info.name);
    into.name("key").text(key_of(subject.info)).name("since").number(subject.since);
    into.name("is_others").truth(subject.is_others).name("has_level").truth(subject.has_level);
    into.all("figures", subject.figures).name("knobs").raw("[");
    for (std::size_t i = 0; i < subject.info.knobs.size(); ++i)
      add(into, subject.info.knobs[i], subject.in_force[i], subject.accepted[i]);
    into.raw("]").name("measured").raw("[");
    const auto its = measured.find(subject.info.id);
    if (its != measured.end())
      for (const measurement& one : its->second)
        into.next().raw("[").number(one.under).raw(",").number(one.value).raw(",").number(one.seconds).raw("]");
    into.raw("]}");
  }
  return into.raw("]}\n").take();
}

std::optional<outside_answer> read_answer(const std::string& text, std::uint64_t number, const view& now) {
  outside_answer found;
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
      found.when = cadence_of(line);
      continue;
    }
    if (found.proposals.size() == most_proposals) throw std::runtime_error("proposed more than 1000 things at once");
    found.proposals.push_back(proposal_of(line, now));
  }
  return found;
}

}  // namespace trimtab::steer
