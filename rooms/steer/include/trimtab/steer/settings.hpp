// Settings of earlier runs, as the launcher hands them over: text, one line a subject, written by python/trimtab/history.
//
//   trimtab-settings 1
//   app%2Babc123/0x1234 schedule=dynamic chunk=64
// The key is what the adapter names the subject by, the same in every run of the same build; a word as in log.hpp, as are
// the names and values. A name with a dot in it is no knob's, but says more of one to its adapter (partition.costs).
// Pure: the room session reads the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/decision.hpp"

namespace trimtab::steer {

inline constexpr std::string_view settings_head = "trimtab-settings 1\n";

struct setting {
  std::string key;
  struct value {
    std::string knob, text;
    bool operator==(const value&) const = default;
  };
  std::vector<value> values;
  bool operator==(const setting&) const = default;
};

struct parsed_settings {
  std::vector<setting> settings;
  std::string error;  // "line 3: ..."; then there are no settings: the program runs untuned
};
parsed_settings settings_from_text(std::string_view text);
std::string to_text(const std::vector<setting>& settings);
// One line, without its end.
std::string to_line(const setting& saved);
std::optional<setting> setting_from_line(std::string_view line);

// What a setting says to these knobs. A knob or value that there is not makes the whole setting void: it is of another
// version. None: nothing for this key, or void; `why` then says so.
std::vector<change> changes_of(const std::vector<setting>& settings, std::string_view key, const subject_info& subject,
                               std::string& reason);

}  // namespace trimtab::steer
