// One option is one row: the variable that sets it, its default, the values that it may have, what it means, and where its
// value goes.
#pragma once

#include <span>

#include "trimtab/options/values.hpp"

namespace trimtab::options {

struct option {
  const char* variable;  // of the environment
  const char* standard;  // its value where nothing is given; "": none
  values allowed;
  const char* help;
  const char* argument = "";  // of --trimtab:ARGUMENT=VALUE; "": the environment alone sets it
};

// A row of a table that fills a `target`.
template <class target>
struct row : option {
  void (*set)(target& into, const value& to);
};

// What a table could not use.
struct mistake {
  const option* of = nullptr;  // nullptr: everything was understood
  const char* text = nullptr;
};

// Fills `filled` with the defaults of the table and what look_up(option) has in their place; nullptr and "" count as not
// given. What is not allowed leaves the default. Returns the first mistake. Allocates nothing unless a row does.
template <class target, class look_up_function>
mistake fill(target& filled, std::span<const row<target>> table, look_up_function look_up) {
  mistake first;
  const auto set = [&filled](const row<target>& option_row, const char* text) {
    const auto checked = check(option_row.allowed, text);
    if (checked) option_row.set(filled, *checked);
    return checked.has_value();
  };
  for (const row<target>& option_row : table) {
    if (option_row.standard[0] != '\0') set(option_row, option_row.standard);
    const char* const text = look_up(option_row);
    if (text == nullptr || text[0] == '\0') continue;
    if (!set(option_row, text) && first.of == nullptr) first = {&option_row, text};
  }
  return first;
}

}  // namespace trimtab::options
