#include "trimtab/steer/settings.hpp"

#include <algorithm>

#include "log_words.hpp"

namespace trimtab::steer {

parsed_settings settings_from_text(std::string_view text) {
  parsed_settings found;
  if (!text.starts_with(settings_head)) return {{}, "line 1: expected 'trimtab-settings 1'"};
  text.remove_prefix(settings_head.size());
  for (int number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    words line(text.substr(0, end));
    setting fresh{line.text(), {}};
    bool is_good = end != std::string_view::npos && line.is_good() && !line.is_over();
    while (is_good && !line.is_over()) {
      const std::string_view pair = line.raw();
      const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
      const auto name = from_word(pair.substr(0, equals)), value = from_word(pair.substr(equals + 1));
      is_good = line.is_good() && name && value;
      if (is_good) fresh.values.push_back({*name, *value});
    }
    if (!is_good) return {{}, "line " + std::to_string(number) + ": expected KEY KNOB=VALUE ..."};
    found.settings.push_back(std::move(fresh));
    text.remove_prefix(end + 1);
  }
  return found;
}

std::string to_text(const std::vector<setting>& settings) {
  std::string text(settings_head);
  for (const setting& each : settings) {
    text += to_word(each.key);
    for (const setting::value& its : each.values) text += ' ' + to_word(its.knob) + '=' + to_word(its.text);
    text += '\n';
  }
  return text;
}

std::vector<change> changes_of(const std::vector<setting>& settings, std::string_view key, const subject_info& subject,
                               std::string& why) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const setting& each) { return each.key == key; });
  if (found == settings.end()) return {};
  std::vector<change> changes;
  for (const setting::value& its : found->values) {
    if (its.knob.find('.') != std::string::npos) continue;  // its adapter's
    const auto place = subject.place_of(its.knob);
    const auto value = place ? subject.knobs[*place].values.value_of(its.text) : std::nullopt;
    if (!value) {
      why = "the history's " + its.knob + " = " + its.text + " for " + subject.name + " is nothing that it can have here";
      return {};
    }
    const knob_value initial = subject.knobs[*place].initial;
    if (*value != initial) changes.push_back({*place, initial, *value});
  }
  return changes;
}

}  // namespace trimtab::steer
