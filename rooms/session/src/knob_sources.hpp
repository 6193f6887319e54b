// All that can be turned in a watched process: one row for each source. A new one is a row here and a file of its own.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "trimtab/steer/knob_source.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::session {

using knob_sources = std::vector<std::unique_ptr<steer::knob_source>>;

// Those that the options allow. `known`: settings of earlier runs. While the library loads.
knob_sources make_sources(const steering_options& chosen, steer::knob_registry& registry,
                          const std::vector<steer::setting>& settings);

}  // namespace trimtab::session
