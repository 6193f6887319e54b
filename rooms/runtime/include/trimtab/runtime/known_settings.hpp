// What earlier runs found, as `trimtab run` hands it to the processes that it starts.
#pragma once

#include <string>
#include <vector>

#include "trimtab/steer/settings.hpp"

namespace trimtab::task_steering {

struct known_settings {
  std::vector<steer::setting> settings;
  bool is_frozen = false;   // nothing is searched, even where the program asks for it
  std::string error;        // "FILE: line 3: ..."; then there are no settings
  std::string policy_file;  // of the policy that searches, in another process; "": none
};

// Whether `trimtab run` says that this process uses the settings of earlier runs.
bool uses_settings_of_run() noexcept;
known_settings settings_of_earlier_runs();

}  // namespace trimtab::task_steering
