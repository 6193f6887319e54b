// What users may set of the policies that fit numbers of threads: "bad_trig=1,good_trig=10".
// docs/reference/thread-policies.md has the names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trimtab/steer/thread_fitting/asat_v1.hpp"
#include "trimtab/steer/thread_fitting/asat_v1_timed.hpp"
#include "trimtab/steer/thread_fitting/asat_v2.hpp"
#include "trimtab/steer/thread_fitting/asat_v2_reset.hpp"
#include "trimtab/steer/thread_fitting/fit.hpp"

namespace trimtab::steer {

// A number above 0 (or 0, where that is allowed), or one of some words.
struct tunable_info {
  std::string_view name;
  std::string_view expected;  // what the value must be: "a whole number from 0 to 19"
  bool is_whole = false;
  bool is_zero_allowed = false;
  double most = 1e9;
  std::span<const std::string_view> words = {};
};
// The tunables of a policy ("fit", "asat-v1"); empty: it has none, or there is no such policy.
std::span<const tunable_info> tunables_of(std::string_view policy) noexcept;

// "" when all were set; else which could not be, and what was expected. Those before it are set.
std::string set_tunables(std::string_view text, asat_v1_options& options);
std::string set_tunables(std::string_view text, asat_v1_timed_options& options);
std::string set_tunables(std::string_view text, asat_v2_options& options);
std::string set_tunables(std::string_view text, asat_v2_reset_options& options);
std::string set_tunables(std::string_view text, fit_options& options);

}  // namespace trimtab::steer
