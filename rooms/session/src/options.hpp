// Everything that can be set about the library inside a watched process: one table of rows. `trimtab run` sets the
// variables.
#pragma once

#include <span>
#include <string_view>

#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/options/option.hpp"
#include "trimtab/options/rank_variables.hpp"
#include "trimtab/options/run_options.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::session {

using options::steer_policy;
using options::tuning_mode;

// In the order of thread_policy_words.
enum class thread_policy : std::uint8_t { off, fit, regions, asat_v1, asat_v2, asat_v1_timed, asat_v2_reset };
inline constexpr std::string_view thread_policy_words[] = {"off",     "fit",           "regions",      "asat-v1",
                                                           "asat-v2", "asat-v1-timed", "asat-v2-reset"};
constexpr std::string_view name_of(thread_policy kind) noexcept {
  return thread_policy_words[static_cast<std::size_t>(kind)];
}

constexpr std::string_view name_of(steer_policy kind) noexcept {
  return options::steer_policy_words[static_cast<std::size_t>(kind)];
}

struct steering_options {
  tuning_mode how = tuning_mode::off;
  thread_policy threads = thread_policy::off;
  std::string_view thread_tunables;         // of that policy, "bad_trig=1,...": behind a colon
  bool is_even_if_fixed = false;            // consent to change numbers of threads that the program says itself
  const char* runtime_directory = nullptr;  // XDG_RUNTIME_DIR: for the registry, where there is no /dev/shm
  const char* settings = nullptr;           // a path
  const char* virtual_threads = nullptr;    // a path
  steer::search_kind search = steer::search_kind::diagnosed;
  steer_policy policy = steer_policy::tuner;
  const char* policy_file = nullptr;  // of one outside
  std::uint64_t budget_percent = 3;
  std::uint64_t seed = 1;
  std::uint64_t max_memory_bytes = 0;  // 0: a fifth above the peak before
  bool is_memory_set = false;          // how the allocator keeps memory is the user's: GLIBC_TUNABLES and its like
  bool is_waiting_set = false;         // how threads wait is the user's: KMP_BLOCKTIME and its like

  // The settings of earlier runs and no search: an OpenMP program cannot ask for one itself.
  bool has_settings_only() const noexcept { return how == tuning_mode::frozen || how == tuning_mode::known; }
  // Not what another policy is compared with, or has its own idea of.
  bool has_rules_of_ours() const noexcept {
    return has_settings_only() || (how == tuning_mode::on && policy == steer_policy::tuner);
  }
  // One number of threads for all regions; not one each.
  bool fits_threads() const noexcept { return threads != thread_policy::off && threads != thread_policy::regions; }
  bool is_on() const noexcept { return how != tuning_mode::off || threads != thread_policy::off; }
};

struct library_options {
  observe::recorder_options recorder;
  observe::sampler_options sampler;
  steering_options steering;
  bool is_follow = true;
  bool is_interleaved = false;  // pages come from all nodes of memory in turn
  const char* users_values =
      nullptr;  // of variables that programs which this one starts do not inherit (child_environment.hpp)
  bool is_other_ompt_tool = false;  // OMP_TOOL_LIBRARIES, which is the runtimes' own, names one
  options::mistake wrong;           // the first value that is not allowed, for the run's list of what was unavailable
};

inline constexpr options::option run_option = {"TRIMTAB_RUN", "", options::path(),
                                               "absolute path of the run directory; not set: nothing is recorded"};

inline constexpr options::option users_values_option = {"TRIMTAB_USERS_VALUES", "", options::any_text(),
                                                        "start values that are this program's alone: for programs that it "
                                                        "starts, NAME=VALUE as you had set it, or NAME, one a line"};

// The variables that `trimtab run` sets, and those that others read and the library looks at, too.
std::span<const options::row<library_options>> library_table() noexcept;
std::span<const options::row<library_options>> foreign_table() noexcept;

// look_up returns the value or nullptr. What is not understood keeps its default.
library_options read_options(const char* (*look_up)(const options::option& of)) noexcept;

}  // namespace trimtab::session
