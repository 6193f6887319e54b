#include "proc_file.hpp"

#include <cstdlib>
#include <cstring>

namespace trimtab::observe {

bool find_number(const char* text, const char* key, std::uint64_t& value) noexcept {
  const std::size_t length = std::strlen(key);
  for (const char* line = text; *line != '\0';) {
    if (std::strncmp(line, key, length) == 0 && (line[length] == ':' || line[length] == ' ' || line[length] == '\t')) {
      const char* const at = line + length + std::strspn(line + length, ": \t");
      if (*at >= '0' && *at <= '9') {
        value = std::strtoull(at, nullptr, 10);
        return true;
      }
    }
    const char* const end = strchrnul(line, '\n');
    line = *end == '\0' ? end : end + 1;
  }
  return false;
}

}  // namespace trimtab::observe
