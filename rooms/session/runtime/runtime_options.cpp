#include "trimtab/session/runtime_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "scheduler_places.hpp"

namespace trimtab {

namespace {

using session::is_tuned_run;
using session::with_known_scheduler;
using tasks::runtime_options;

constexpr runtime_option table[] = {
    {"workers", "0", "threads that run tasks; 0: as many CPUs as the process may use"},
    {"policy", "local-priority",
     "how tasks are scheduled: local | local-priority | abp-priority | hierarchy | static-priority | periodic-priority"},
    {"numa", "0", "1: each worker stays on a CPU of its own, and looks for tasks in its own domain of memory first"},
    {"stack-bytes", "524288", "size of each task's stack, 65536 to 1073741824"},
    {"deadlock-ms", "3000", "how long nothing can run while tasks wait, until it is told; 0: never"},
    {"print-counter", "", "path of a counter to be printed when the runtime ends; may be given several times"},
    {"print-counter-interval", "0", "milliseconds between prints; 0: only at the end"},
    {"tune", "",
     "what is tuned while the program runs, a comma list: workers (their cap) | grain (of loops and steps) | scheduler (the "
     "policy, of the next runtime)",
     "TRIMTAB_TASK_TUNE"},
    {"tune-policy", "tuner",
     "who sets the cap of workers: tuner (proves what it keeps) | queue-length (hill climbing, as published) | power-limit "
     "| "
     "fit (as many as there are CPUs for)",
     "TRIMTAB_TASK_TUNE_POLICY"},
    {"power-limit", "0", "watts that all processors together may take: the cap of workers is tuned by it; 0: none"},
    {"print-decisions", "0", "1: what was tuned, and why, is printed when the runtime ends"},
};

[[noreturn]] void wrong(const std::string& option, std::string_view value, const std::string& expected) {
  throw std::invalid_argument("trimtab: option " + option + " is \"" + std::string(value) + "\", expected " + expected);
}

template <class number>
number number_of(const std::string& option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || value < least || value > most)
    wrong(option, text, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<number>(value);
}

void set_tuned(tuning_options& into, const std::string& option, std::string_view value) {
  into.workers = into.grain = into.scheduler = false;
  for (std::string_view left = value; !left.empty();) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    if (word == "workers")
      into.workers = true;
    else if (word == "grain")
      into.grain = true;
    else if (word == "scheduler")
      into.scheduler = true;
    else
      wrong(option, value, "a comma list of workers, grain, scheduler");
  }
}

// option: as the user wrote it, for errors.
void set(runtime_options& into, tuning_options& tuning, std::string_view name, const std::string& option,
         std::string_view value) {
  if (name == "workers") {
    into.workers = number_of<std::uint32_t>(option, value, 0, 4096);
  } else if (name == "policy") {
    const auto known = tasks::policy_of(value);
    if (!known)
      wrong(option, value, "one of local, local-priority, abp-priority, hierarchy, static-priority, periodic-priority");
    into.policy = known;
  } else if (name == "numa") {
    into.numa = number_of<int>(option, value, 0, 1) == 1;
  } else if (name == "stack-bytes") {
    into.stack_bytes = number_of<std::size_t>(option, value, 64 << 10, 1 << 30);
  } else if (name == "deadlock-ms") {
    into.deadlock_ms = number_of<std::uint32_t>(option, value, 0, ~0u);
  } else if (name == "print-counter") {
    into.print_counters.emplace_back(value);
  } else if (name == "print-counter-interval") {
    into.print_counters_ms = number_of<std::uint32_t>(option, value, 0, ~0u);
  } else if (name == "tune") {
    set_tuned(tuning, option, value);
  } else if (name == "tune-policy") {
    const auto known = cap_policy_of(value);
    if (!known) wrong(option, value, "one of tuner, queue-length, power-limit, fit");
    tuning.policy = *known;
  } else if (name == "power-limit") {
    tuning.power_limit_w = number_of<std::uint32_t>(option, value, 0, 1'000'000);
  } else if (name == "print-decisions") {
    tuning.print_decisions = number_of<int>(option, value, 0, 1) == 1;
  } else {
    std::string all;
    for (const runtime_option& each : table) all.append(all.empty() ? "" : ", ").append(each.name);
    throw std::invalid_argument("trimtab: there is no option " + option + "; there are " + all);
  }
}

// What the user has said, over the program's own options. `has_tune`: also what is to be tuned.
runtime_options with_tuning(runtime_options made, const std::optional<tasks::policy>& own, tuning_options tuning,
                            bool has_tune) {
  // A policy that the program has set is its own, or the user's, and not ours.
  const bool is_open = !own && !made.choose_policy;
  const bool is_for_later = !has_tune && !made.policy && is_tuned_run();
  if (is_open && tuning.scheduler && made.policy) {
    tuning.first_scheduler = *made.policy;
    made.policy.reset();
  }
  made = tuned(std::move(made), tuning);
  // Under `trimtab run --tune` and its like: nothing that costs the program anything while it runs.
  return is_open && is_for_later ? with_known_scheduler(std::move(made)) : made;
}

std::string variable_of(std::string_view name) {
  std::string made = "TRIMTAB_";
  for (const char each : name)
    made += each == '-' ? '_' : static_cast<char>(each >= 'a' && each <= 'z' ? each - 'a' + 'A' : each);
  return made;
}

}  // namespace

std::span<const runtime_option> runtime_option_table() noexcept { return table; }

runtime_options options_from(int& argc, char** argv, const runtime_options& defaults) {
  constexpr std::string_view prefix = "--trimtab:";
  runtime_options made = defaults;
  tuning_options tuning;
  bool has_tune = false;
  const auto take = [&](std::string_view name, const std::string& option, std::string_view value) {
    set(made, tuning, name, option, value);
    has_tune = has_tune || name == "tune";
  };
  for (const runtime_option& each : table) {
    const std::string variable = each.variable != nullptr ? each.variable : variable_of(each.name);
    if (const char* const value = std::getenv(variable.c_str()); value != nullptr && value[0] != '\0')
      take(each.name, variable, value);
  }
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(prefix)) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view name =
        argument.substr(prefix.size(), equals == argument.npos ? argument.npos : equals - prefix.size());
    if (name == "help") {
      for (const runtime_option& each : table)
        std::printf("%.*s%-24s %s (%s)\n", static_cast<int>(prefix.size()), prefix.data(), each.name, each.help,
                    each.standard);
      std::exit(0);
    }
    const std::string option(argument.substr(0, equals));
    const bool is_switch = name == "print-decisions";
    if (equals == argument.npos && !is_switch) wrong(option, "", "a value: " + option + "=VALUE");
    take(name, option, equals == argument.npos ? "1" : argument.substr(equals + 1));
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return with_tuning(std::move(made), defaults.policy, tuning, has_tune);
}

}  // namespace trimtab
