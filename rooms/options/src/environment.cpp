#include "trimtab/options/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace trimtab::options {

const char* value_of(const option& option_row) noexcept {
  const char* const text = std::getenv(option_row.variable);
  return text == nullptr || text[0] == '\0' ? nullptr : text;
}

char* const* all_variables() noexcept { return environ; }

void forget(const option& option_row) noexcept { unsetenv(option_row.variable); }

void make_empty(const option& option_row) noexcept {
  const std::size_t length = std::strlen(option_row.variable);
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (std::strncmp(*variable, option_row.variable, length) == 0 && (*variable)[length] == '=')
      (*variable)[length + 1] = '\0';
}

void forget_first_preload() noexcept {
  constexpr const char* name = "LD_PRELOAD";
  char* const libraries = std::getenv(name);
  if (libraries == nullptr) return;
  const char* const rest = std::strpbrk(libraries, ": ");
  if (rest == nullptr || rest[1] == '\0') {
    unsetenv(name);
    return;
  }
  // setenv would allocate from the program's heap.
  std::memmove(libraries, rest + 1, std::strlen(rest + 1) + 1);
}

}  // namespace trimtab::options
