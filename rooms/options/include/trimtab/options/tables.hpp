// A table of options as text: for --trimtab:help, the documentation and the command.
#pragma once

#include <string>
#include <vector>

#include "trimtab/options/option.hpp"

namespace trimtab::options {

template <class target>
std::vector<option> options_of(std::span<const row<target>> table) {
  return {table.begin(), table.end()};
}

// One line: "--trimtab:workers  threads that run tasks (0 to 4096; default 0)".
std::string help_line(const option& option_row);
// Rows of Markdown: name, default, values, meaning. The name is the argument where there is one, or the variable.
std::string markdown_table(const std::vector<option>& table);
// An array of objects, one in a line.
std::string json_array(const std::vector<option>& table);
// A text in JSON, with its quotation marks.
std::string json_text(std::string_view text);

}  // namespace trimtab::options
