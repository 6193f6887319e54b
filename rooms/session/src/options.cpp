#include "options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

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

template <class value>
struct word {
  const char* text;
  value means;
};
template <class value, std::size_t count>
bool read_word(std::string_view text, const word<value> (&words)[count], value& into) noexcept {
  const auto found = std::find_if(std::begin(words), std::end(words), [&](const auto& each) { return text == each.text; });
  if (found == std::end(words)) return false;
  into = found->means;
  return true;
}

constexpr word<observe::record_level> levels[] = {{"off", observe::record_level::off},
                                                  {"idle", observe::record_level::idle},
                                                  {"profile", observe::record_level::profile},
                                                  {"trace", observe::record_level::trace}};
constexpr word<tune> tunes[] = {
    {"off", tune::off}, {"on", tune::on}, {"frozen", tune::frozen}, {"known", tune::frozen}, {"shuffle", tune::shuffle}};
constexpr word<thread_policy> thread_policies[] = {{"off", thread_policy::off},
                                                   {"fit", thread_policy::fit},
                                                   {"asat-v1", thread_policy::asat_v1},
                                                   {"asat-v2", thread_policy::asat_v2},
                                                   {"asat-v1-timed", thread_policy::asat_v1_timed},
                                                   {"asat-v2-reset", thread_policy::asat_v2_reset},
                                                   {"regions", thread_policy::regions}};
constexpr word<steer_policy> policies[] = {{"tuner", steer_policy::tuner},
                                           {"arcs-online", steer_policy::arcs_online},
                                           {"arcs-offline", steer_policy::arcs_offline}};

// With tunables behind a colon, perhaps.
bool read_threads(const char* text, steering_options& chosen) noexcept {
  const std::string_view all = text;
  const std::size_t colon = std::min(all.find(':'), all.size());
  if (!read_word(all.substr(0, colon), thread_policies, chosen.threads)) return false;
  chosen.thread_tunables = all.substr(std::min(colon + 1, all.size()));
  const bool has_some = chosen.threads != thread_policy::off && chosen.threads != thread_policy::regions;
  return has_some || chosen.thread_tunables.empty();
}

// One of ours, or the file of one outside.
bool read_policy(const char* text, steering_options& chosen) noexcept {
  if (read_word(text, policies, chosen.policy)) return true;
  const std::size_t length = std::strlen(text);
  if (length <= 3 || !is(text + length - 3, ".py")) return false;
  chosen.policy = steer_policy::outside;
  chosen.policy_file = text;
  return true;
}

// Of what the launcher has set wrongly nothing is told: it is none of our options.
template <class lookup>
void read_rank(const lookup& value_of, observe::recorder_options& into) noexcept {
  constexpr std::uint64_t most = 0x7fffffff;
  for (const rank_variables& each : rank_table) {
    const char* const text = value_of(each.rank);
    std::uint64_t rank = 0, size = 0;
    if (text == nullptr || !read_number(text, 0, most, rank)) continue;
    if (each.required[0] != '\0' && value_of(each.required) == nullptr) continue;
    into.rank = static_cast<std::int64_t>(rank);
    const char* const ranks = value_of(each.size);
    if (ranks != nullptr && read_number(ranks, rank + 1, most, size)) into.job_size = static_cast<std::int64_t>(size);
    return;
  }
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
  if (const char* text = value_of("TRIMTAB_LEVEL"))
    check("TRIMTAB_LEVEL", text, read_word(text, levels, result.recorder.level));
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
  if (const char* text = value_of("TRIMTAB_TUNE")) check("TRIMTAB_TUNE", text, read_word(text, tunes, result.steering.how));
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
  if (const char* text = value_of("TRIMTAB_THREADS")) check("TRIMTAB_THREADS", text, read_threads(text, result.steering));
  if (const char* text = value_of("TRIMTAB_THREADS_EVEN_IF_FIXED")) {
    result.steering.is_even_if_fixed = is(text, "1");
    check("TRIMTAB_THREADS_EVEN_IF_FIXED", text, is(text, "0") || is(text, "1"));
  }
  if (const char* text = value_of("TRIMTAB_RECORD_SNAPSHOTS")) {
    result.recorder.has_snapshots = is(text, "1");
    check("TRIMTAB_RECORD_SNAPSHOTS", text, is(text, "0") || is(text, "1"));
  }
  read_rank(value_of, result.recorder);
  result.steering.runtime_directory = value_of("XDG_RUNTIME_DIR");
  for (const char* const each : {"KMP_BLOCKTIME", "KMP_LIBRARY", "OMP_WAIT_POLICY"})
    result.steering.is_waiting_set = result.steering.is_waiting_set || value_of(each) != nullptr;
  result.is_other_ompt_tool = value_of("OMP_TOOL_LIBRARIES") != nullptr;
  return result;
}

}  // namespace trimtab::session
