#include "proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace trimtab::observe {

long read_file(const char* path, char* into, std::size_t bytes) noexcept {
  const int saved = errno;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const long error = -errno;
    errno = saved;
    return error;
  }
  std::size_t used = 0;
  long result = 0;
  while (used + 1 < bytes) {
    const ssize_t got = read(fd, into + used, bytes - 1 - used);
    if (got < 0) result = -errno;
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  close(fd);
  into[used] = '\0';
  errno = saved;
  return result < 0 ? result : static_cast<long>(used);
}

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
