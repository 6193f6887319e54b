// What users may set of the policies that fit numbers of threads: "bad_trig=1,good_trig=10".
// docs/reference/thread-policies.md has the names.
#pragma once

#include <string>
#include <string_view>

#include "trimtab/steer/fitting/asat_v1.hpp"
#include "trimtab/steer/fitting/asat_v1_timed.hpp"
#include "trimtab/steer/fitting/asat_v2.hpp"
#include "trimtab/steer/fitting/asat_v2_reset.hpp"
#include "trimtab/steer/fitting/fit.hpp"

namespace trimtab::steer {

// "" when all were set; else which could not be, and what was expected. Those before it are set.
std::string set_tunables(std::string_view text, asat_v1_options& into);
std::string set_tunables(std::string_view text, asat_v1_timed_options& into);
std::string set_tunables(std::string_view text, asat_v2_options& into);
std::string set_tunables(std::string_view text, asat_v2_reset_options& into);
std::string set_tunables(std::string_view text, fit_options& into);

}  // namespace trimtab::steer
