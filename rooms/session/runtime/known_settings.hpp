// What earlier runs found, as `trimtab run` hands it to the processes that it starts.
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

// Whether this process is one of `trimtab run --tune` or `--frozen`, or of one that knows something: TRIMTAB_TUNE.
bool is_tuned_run();
// From the environment: TRIMTAB_SETTINGS, TRIMTAB_TUNE.
known_settings settings_of_earlier_runs();

}  // namespace trimtab::session
