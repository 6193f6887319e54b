#include "known_settings.hpp"

#include <cstring>

#include "trimtab.h"
#include "trimtab/base/read_file.hpp"
#include "trimtab/options/environment.hpp"
#include "trimtab/options/run_options.hpp"

namespace trimtab::task_steering {

namespace {

options::tuning_mode mode_of_run() noexcept {
  const options::option& of = options::tune_option;
  const char* const text = options::value_of(of);
  const auto given = options::check(of.allowed, text == nullptr ? of.standard : text);
  return given ? options::tuning_mode_of(*given) : options::tuning_mode::off;
}

// Of a process that is watched and searches.
std::string policy_file_of_run() {
  const options::option& of = options::policy_option;
  const char* const text = options::value_of(of);
  if (text == nullptr || mode_of_run() != options::tuning_mode::on || trimtab_process_folder() == nullptr) return "";
  const auto given = options::check(of.allowed, text);
  return given && given->index == options::value::is_file ? std::string(given->text) : "";
}

}  // namespace

bool uses_settings_of_run() noexcept { return options::uses_settings(mode_of_run()); }

known_settings settings_of_earlier_runs() {
  known_settings found;
  found.is_frozen = mode_of_run() == options::tuning_mode::frozen;
  found.policy_file = policy_file_of_run();
  const char* const path = options::value_of(options::settings_option);
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

}  // namespace trimtab::task_steering
