// What earlier runs found, as `trimtab run --tune` and `--frozen` hand it to the processes that they start.
#pragma once

#include <string>
#include <vector>

#include "trimtab/steer/settings.hpp"

namespace trimtab::session {

struct known_settings {
  std::vector<steer::setting> settings;
  bool is_frozen = false;  // they are all that is to be set: nothing is searched
  std::string error;       // "FILE: line 3: ..."; then there are no settings
};

// Whether this process is one of `trimtab run --tune` or `--frozen`: TRIMTAB_TUNE.
bool is_tuned_run();
// From the environment: TRIMTAB_SETTINGS, TRIMTAB_TUNE.
known_settings settings_of_earlier_runs();

}  // namespace trimtab::session
