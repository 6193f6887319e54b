#include "known_settings.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "trimtab/base/read_file.hpp"

namespace trimtab::session {

namespace {

const char* value_of(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr || value[0] == '\0' ? nullptr : value;
}

}  // namespace

bool is_tuned_run() {
  const char* const how = value_of("TRIMTAB_TUNE");
  if (how == nullptr) return false;
  const std::string_view word = how;
  return word == "on" || word == "frozen" || word == "known";
}

known_settings settings_of_earlier_runs() {
  known_settings found;
  const char* const how = value_of("TRIMTAB_TUNE");
  found.is_frozen = how != nullptr && std::string_view(how) == "frozen";
  const char* const path = value_of("TRIMTAB_SETTINGS");
  if (path == nullptr) return found;
  std::string text;
  if (const int error = base::read_whole_file(path, text); error != 0) {
    found.error = std::string(path) + ": " + std::strerror(error);
    return found;
  }
  steer::parsed_settings read = steer::settings_from_text(text);
  if (!read.error.empty()) found.error = std::string(path) + ": " + read.error;
  found.settings = std::move(read.settings);
  return found;
}

}  // namespace trimtab::session
