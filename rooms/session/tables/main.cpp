// Prints the tables of options: `trimtab-options json` for the command trimtab; `library`, `foreign`, `runtime` and `job`
// for the documentation. `trimtab-options check` says of each line VARIABLE=VALUE that it reads whether it is allowed, for
// tests. It knows the session, the runtime and the parcels, which do not know each other: so it is a program and no room.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "job/option_table.hpp"
#include "option_table.hpp"
#include "options.hpp"
#include "trimtab/options/tables.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"

namespace {

using namespace trimtab;

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string json_of(const steer::tunable_info& of) {
  std::string made = "{\"name\": " + options::json_text(of.name) + ", \"expected\": " + options::json_text(of.expected);
  if (of.words.empty()) {
    made += std::string(", \"is_whole\": ") + (of.is_whole ? "true" : "false");
    made += std::string(", \"is_zero_allowed\": ") + (of.is_zero_allowed ? "true" : "false");
    return made + ", \"most\": " + text_of(of.most) + "}";
  }
  std::string words;
  for (const std::string_view word : of.words) words += (words.empty() ? "" : ", ") + options::json_text(word);
  return made + ", \"words\": [" + words + "]}";
}

std::string json_of(std::string_view word, std::span<const steer::tunable_info> all) {
  std::string tunables;
  for (const steer::tunable_info& tunable : all) tunables += (tunables.empty() ? "\n   " : ",\n   ") + json_of(tunable);
  return "\n  " + options::json_text(word) + ": [" + tunables + "]";
}

// Of words that may have them, of all options.
std::string json_of_tunables() {
  std::string words;
  for (const std::string_view policy : session::thread_policy_words)
    words.append(words.empty() ? "" : ",").append(json_of(policy, steer::tunables_of(policy)));
  for (const auto& meter : task_steering::tunables_of_meters())
    words.append(",").append(json_of(meter.word, meter.tunables));
  return "{" + words + "\n }";
}

std::string json() {
  const std::string library = options::json_array(options::options_of(session::library_table()));
  const std::string runtime = options::json_array(options::options_of(task_steering::option_table()));
  const std::string job = options::json_array(options::options_of(parcels::option_table()));
  return "{\n \"library\": " + library + ",\n \"runtime\": " + runtime + ",\n \"job\": " + job +
         ",\n \"tunables\": " + json_of_tunables() + "\n}\n";
}

template <class target>
const options::option* find(std::span<const options::row<target>> table, std::string_view variable) {
  for (const auto& each : table)
    if (variable == each.variable) return &each;
  return nullptr;
}

void check_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    const std::string_view variable = std::string_view(line).substr(0, equals);
    const options::option* of = find(session::library_table(), variable);
    if (of == nullptr) of = find(task_steering::option_table(), variable);
    if (of == nullptr) of = find(parcels::option_table(), variable);
    std::puts(of != nullptr && options::check(of->allowed, line.c_str() + equals + 1) ? "allowed" : "refused");
  }
}

std::string text_named(std::string_view what) {
  if (what == "json") return json();
  if (what == "library") return options::markdown_table(options::options_of(session::library_table()));
  if (what == "foreign") return options::markdown_table(options::options_of(session::foreign_table()));
  if (what == "runtime") return options::markdown_table(options::options_of(task_steering::option_table()));
  if (what == "job") return options::markdown_table(options::options_of(parcels::option_table()));
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "check") {
    check_lines();
    return 0;
  }
  const std::string text = argc == 2 ? text_named(argv[1]) : "";
  if (text.empty()) {
    std::fputs("usage: trimtab-options json|library|foreign|runtime|job|check\n", stderr);
    return 2;
  }
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
