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

// Fills `into` with the defaults of the table and what look_up(option) has in their place; nullptr and "" count as not
// given. What is not allowed leaves the default. Returns the first mistake. Allocates nothing unless a row does.
template <class target, class look_up_function>
mistake fill(target& into, std::span<const row<target>> table, look_up_function look_up) {
  mistake first;
  const auto set = [&into](const row<target>& of, const char* text) {
    const auto given = check(of.allowed, text);
    if (given) of.set(into, *given);
    return given.has_value();
  };
  for (const row<target>& each : table) {
    if (each.standard[0] != '\0') set(each, each.standard);
    const char* const text = look_up(each);
    if (text == nullptr || text[0] == '\0') continue;
    if (!set(each, text) && first.of == nullptr) first = {&each, text};
  }
  return first;
}

}  // namespace trimtab::options
