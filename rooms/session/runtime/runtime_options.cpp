#include "trimtab/session/runtime_options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace trimtab {

namespace {

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

// option: as the user wrote it, for errors.
void set(runtime_options& into, std::string_view name, const std::string& option, std::string_view value) {
  if (name == "workers") {
    into.workers = number_of<std::uint32_t>(option, value, 0, 4096);
  } else if (name == "policy") {
    const auto known = tasks::policy_of(value);
    if (!known)
      wrong(option, value, "one of local, local-priority, abp-priority, hierarchy, static-priority, periodic-priority");
    into.policy = *known;
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
  } else {
    std::string all;
    for (const runtime_option& each : table) all.append(all.empty() ? "" : ", ").append(each.name);
    throw std::invalid_argument("trimtab: there is no option " + option + "; there are " + all);
  }
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
  for (const runtime_option& each : table) {
    const std::string variable = variable_of(each.name);
    if (const char* const value = std::getenv(variable.c_str()); value != nullptr && value[0] != '\0')
      set(made, each.name, variable, value);
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
        std::printf("%s%-24s %s (%s)\n", prefix.data(), each.name, each.help, each.standard);
      std::exit(0);
    }
    const std::string option(argument.substr(0, equals));
    if (equals == argument.npos) wrong(option, "", "a value: " + option + "=VALUE");
    set(made, name, option, argument.substr(equals + 1));
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return made;
}

}  // namespace trimtab
