#include "trimtab/runtime/known_settings.hpp"

#include <cstring>

#include "trimtab.h"
#include "trimtab/base/read_file.hpp"
#include "trimtab/options/environment.hpp"
#include "trimtab/options/run_options.hpp"

namespace trimtab::task_steering {

namespace {

options::tuning_mode mode_of_run() noexcept {
  const options::option& row_used = options::tune_option;
  const char* const text = options::value_of(row_used);
  const auto checked = options::check(row_used.allowed, text == nullptr ? row_used.standard : text);
  return checked ? options::tuning_mode_of(*checked) : options::tuning_mode::off;
}

// Of a process that is watched and searches.
std::string policy_file_of_run() {
  const options::option& row_used = options::policy_option;
  const char* const text = options::value_of(row_used);
  if (text == nullptr || mode_of_run() != options::tuning_mode::on || trimtab_process_folder() == nullptr) return "";
  const auto checked = options::check(row_used.allowed, text);
  return checked && checked->index == options::value::is_file ? std::string(checked->text) : "";
}

}  // namespace

bool uses_settings_of_run() noexcept { return options::uses_settings(mode_of_run()); }

known_settings settings_of_earlier_runs() {
  known_settings settings_found;
  settings_found.is_frozen = mode_of_run() == options::tuning_mode::frozen;
  settings_found.policy_file = policy_file_of_run();
  const char* const path = options::value_of(options::settings_option);
  if (path == nullptr) return settings_found;
  std::string text;
  if (const int error = base::read_whole_file(path, text); error != 0) {
    settings_found.error = std::string(path) + ": " + std::strerror(error);
    return settings_found;
  }
  steer::parsed_settings read = steer::settings_from_text(text);
  if (!read.error.empty()) settings_found.error = std::string(path) + ": " + read.error;
  settings_found.settings = std::move(read.settings);
  return settings_found;
}

}  // namespace trimtab::task_steering
