#include "trimtab/steer/settings.hpp"

#include <algorithm>

#include "log_words.hpp"

namespace trimtab::steer {

std::optional<setting> setting_from_line(std::string_view text) {
  words line(text);
  setting fresh{line.text(), {}};
  if (!line.is_good() || line.is_over()) return std::nullopt;
  while (!line.is_over()) {
    const std::string_view pair = line.raw();
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    const auto name = from_word(pair.substr(0, equals)), value = from_word(pair.substr(equals + 1));
    if (!line.is_good() || !name || !value) return std::nullopt;
    fresh.values.push_back({*name, *value});
  }
  return fresh;
}

std::string to_line(const setting& saved) {
  std::string line = to_word(saved.key);
  for (const setting::value& value : saved.values) line += ' ' + to_word(value.knob) + '=' + to_word(value.text);
  return line;
}

parsed_settings settings_from_text(std::string_view text) {
  parsed_settings result;
  if (!text.starts_with(settings_head)) return {{}, "line 1: expected 'trimtab-settings 1'"};
  text.remove_prefix(settings_head.size());
  for (int number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::optional<setting> fresh = setting_from_line(text.substr(0, end));
    if (end == std::string_view::npos || !fresh)
      return {{}, "line " + std::to_string(number) + ": expected KEY KNOB=VALUE ..."};
    result.settings.push_back(*std::move(fresh));
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string to_text(const std::vector<setting>& settings) {
  std::string text(settings_head);
  for (const setting& saved : settings) text += to_line(saved) + '\n';
  return text;
}

std::vector<change> changes_of(const std::vector<setting>& settings, std::string_view key, const subject_info& subject,
                               std::string& reason) {
  const auto match = std::find_if(settings.begin(), settings.end(), [&](const setting& saved) { return saved.key == key; });
  if (match == settings.end()) return {};
  std::vector<change> changes;
  for (const setting::value& saved : match->values) {
    if (saved.knob.find('.') != std::string::npos) continue;  // its adapter's
    const auto place = subject.place_of(saved.knob);
    const auto value = place ? subject.knobs[*place].values.value_of(saved.text) : std::nullopt;
    if (!value) {
      reason =
          "the history's " + saved.knob + " = " + saved.text + " for " + subject.name + " is nothing that it can have here";
      return {};
    }
    const knob_value initial = subject.knobs[*place].initial;
    if (*value != initial) changes.push_back({*place, initial, *value});
  }
  return changes;
}

}  // namespace trimtab::steer
