// Reasons with their figures, as printf writes them.
#pragma once

#include <cstdio>
#include <string>

namespace trimtab::steer {

// Of up to 159 characters.
template <class... numbers>
std::string printed(const char* format, numbers... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

}  // namespace trimtab::steer
