#include "trimtab/runtime/options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "option_table.hpp"
#include "scheduler_places.hpp"
#include "trimtab/options/environment.hpp"
#include "trimtab/options/tables.hpp"
#include "trimtab/runtime/known_settings.hpp"

namespace trimtab {

namespace {

using options::value_kind;
using task_steering::chosen_options;
using task_steering::option_table;
using tasks::runtime_options;
using option_row = options::row<chosen_options>;

constexpr std::string_view prefix = "--trimtab:";

[[noreturn]] void refuse(const std::string& option, std::string_view value, const std::string& expected) {
  throw std::invalid_argument("trimtab: option " + option + " is \"" + std::string(value) + "\", expected " + expected);
}

// name: of the variable, or of the argument with its prefix.
void take(chosen_options& target, const option_row& table_row, const std::string& name, const char* text) {
  const auto checked = options::check(table_row.allowed, text);
  if (!checked) refuse(name, text, options::expected(table_row.allowed));
  table_row.set(target, *checked);
}

const option_row& find(const std::string& name) {
  std::string all;
  for (const option_row& table_row : option_table()) {
    if (name.substr(prefix.size()) == table_row.argument) return table_row;
    all.append(all.empty() ? "" : ", ").append(table_row.argument);
  }
  throw std::invalid_argument("trimtab: there is no option " + name + "; there are " + all);
}

[[noreturn]] void print_help() {
  for (const option_row& table_row : option_table()) std::puts(options::help_line(table_row).c_str());
  std::exit(0);
}

// "--trimtab:NAME=VALUE"; of a flag also "--trimtab:NAME".
void take_argument(chosen_options& target, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  if (name.substr(prefix.size()) == "help") print_help();
  const option_row& table_row = find(name);
  const bool has_value = equals != argument.npos;
  if (!has_value && table_row.allowed.kind != value_kind::flag) refuse(name, "", "a value: " + name + "=VALUE");
  take(target, table_row, name, has_value ? argument.c_str() + equals + 1 : "1");
}

// `own`: the policy that the program itself has set.
runtime_options with_tuning(chosen_options chosen, const std::optional<tasks::policy>& own_policy) {
  runtime_options& runtime_settings = chosen.runtime;
  tuning_options& tuning = chosen.tuning;
  // A policy that the program or its user has set is not ours to choose.
  const bool is_open = !own_policy && !runtime_settings.choose_policy;
  const bool is_postponed = !chosen.has_tune && !runtime_settings.policy && task_steering::uses_settings_of_run();
  if (is_open && tuning.scheduler && runtime_settings.policy) {
    tuning.first_scheduler = *runtime_settings.policy;
    runtime_settings.policy.reset();
  }
  runtime_settings = tuned(std::move(runtime_settings), tuning);
  // Under `trimtab run --tune` and its like: nothing that costs the program anything while it runs.
  return is_open && is_postponed ? task_steering::with_known_scheduler(std::move(runtime_settings)) : runtime_settings;
}

}  // namespace

runtime_options options_from(int& argc, char** argv, const runtime_options& defaults) {
  chosen_options chosen{defaults, {}, false};
  for (const option_row& table_row : option_table())
    if (const char* const text = options::value_of(table_row)) take(chosen, table_row, table_row.variable, text);
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(prefix))
      take_argument(chosen, std::string(argument));
    else
      argv[kept++] = argv[i];
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return with_tuning(std::move(chosen), defaults.policy);
}

}  // namespace trimtab
