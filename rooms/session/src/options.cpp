#include "options.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace trimtab::session {

namespace {

bool is(const char* value, const char* word) noexcept { return std::strcmp(value, word) == 0; }

// A whole decimal number within [least, most].
bool read_number(const char* text, std::uint64_t least, std::uint64_t most, std::uint64_t& into) noexcept {
  if (text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  const int saved = errno;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  const bool is_good = errno == 0 && *end == '\0' && value >= least && value <= most;
  errno = saved;
  if (is_good) into = value;
  return is_good;
}

bool read_level(const char* text, observe::record_level& into) noexcept {
  using observe::record_level;
  if (is(text, "off"))
    into = record_level::off;
  else if (is(text, "idle"))
    into = record_level::idle;
  else if (is(text, "profile"))
    into = record_level::profile;
  else if (is(text, "trace"))
    into = record_level::trace;
  else
    return false;
  return true;
}

bool read_tune(const char* text, tune& into) noexcept {
  if (is(text, "off"))
    into = tune::off;
  else if (is(text, "on"))
    into = tune::on;
  else if (is(text, "frozen"))
    into = tune::frozen;
  else if (is(text, "shuffle"))
    into = tune::shuffle;
  else
    return false;
  return true;
}

bool read_threads(const char* text, thread_policy& into) noexcept {
  if (is(text, "off"))
    into = thread_policy::off;
  else if (is(text, "fit"))
    into = thread_policy::fit;
  else if (is(text, "asat-v1"))
    into = thread_policy::asat_v1;
  else if (is(text, "asat-v2"))
    into = thread_policy::asat_v2;
  else
    return false;
  return true;
}

bool read_policy(const char* text, steering_options& chosen) noexcept {
  steer_policy& into = chosen.policy;
  const std::size_t length = std::strlen(text);
  if (is(text, "tuner"))
    into = steer_policy::tuner;
  else if (is(text, "arcs-online"))
    into = steer_policy::arcs_online;
  else if (is(text, "arcs-offline"))
    into = steer_policy::arcs_offline;
  else if (length > 3 && is(text + length - 3, ".py"))
    into = steer_policy::outside;
  else
    return false;
  if (into == steer_policy::outside) chosen.policy_file = text;
  return true;
}

}  // namespace

options read_options(const char* (*look_up)(const char* name)) noexcept {
  options result;
  // An empty value counts as not set.
  const auto value_of = [&](const char* name) -> const char* {
    const char* const value = look_up(name);
    return value == nullptr || value[0] == '\0' ? nullptr : value;
  };
  const auto check = [&](const char* name, const char* value, bool is_good) {
    if (is_good || result.wrong_name != nullptr) return;
    result.wrong_name = name;
    result.wrong_value = value;
  };
  result.recorder.run_directory = value_of("TRIMTAB_RUN");
  if (const char* text = value_of("TRIMTAB_LEVEL")) check("TRIMTAB_LEVEL", text, read_level(text, result.recorder.level));
  if (const char* text = value_of("TRIMTAB_MAX_TRACE"))
    check("TRIMTAB_MAX_TRACE", text, read_number(text, 1, std::uint64_t{1} << 46, result.recorder.max_trace_bytes));
  if (const char* text = value_of("TRIMTAB_KEEP")) {
    const bool is_last = is(text, "last");
    result.recorder.kept = is_last ? observe::keep::last : observe::keep::first;
    check("TRIMTAB_KEEP", text, is_last || is(text, "first"));
  }
  result.sampler.probes = value_of("TRIMTAB_PROBES");
  if (const char* text = value_of("TRIMTAB_SAMPLE_MS")) {
    std::uint64_t period = result.sampler.period_ms;
    check("TRIMTAB_SAMPLE_MS", text, read_number(text, 1, 10'000, period));
    result.sampler.period_ms = static_cast<std::uint32_t>(period);
  }
  if (const char* text = value_of("TRIMTAB_FOLLOW")) {
    result.is_follow = !is(text, "0");
    check("TRIMTAB_FOLLOW", text, is(text, "0") || is(text, "1"));
  }
  if (const char* text = value_of("TRIMTAB_TUNE")) check("TRIMTAB_TUNE", text, read_tune(text, result.steering.how));
  result.steering.settings = value_of("TRIMTAB_SETTINGS");
  result.steering.virtual_threads = value_of("TRIMTAB_VIRTUAL_THREADS");
  if (const char* text = value_of("TRIMTAB_SEARCH")) {
    const auto found = steer::search_named(text);
    check("TRIMTAB_SEARCH", text, found.has_value());
    if (found) result.steering.search = *found;
  }
  if (const char* text = value_of("TRIMTAB_STEER_POLICY"))
    check("TRIMTAB_STEER_POLICY", text, read_policy(text, result.steering));
  if (const char* text = value_of("TRIMTAB_BUDGET"))
    check("TRIMTAB_BUDGET", text, read_number(text, 0, 100, result.steering.budget_percent));
  if (const char* text = value_of("TRIMTAB_SEED"))
    check("TRIMTAB_SEED", text, read_number(text, 0, ~std::uint64_t{0}, result.steering.seed));
  if (const char* text = value_of("TRIMTAB_THREADS"))
    check("TRIMTAB_THREADS", text, read_threads(text, result.steering.threads));
  result.steering.runtime_directory = value_of("XDG_RUNTIME_DIR");
  for (const char* const each : {"KMP_BLOCKTIME", "KMP_LIBRARY", "OMP_WAIT_POLICY"})
    result.steering.is_waiting_set = result.steering.is_waiting_set || value_of(each) != nullptr;
  result.is_other_ompt_tool = value_of("OMP_TOOL_LIBRARIES") != nullptr;
  return result;
}

}  // namespace trimtab::session
