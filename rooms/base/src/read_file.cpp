#include "trimtab/base/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

long read_file(const char* path, char* into, std::size_t bytes) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return -EPERM;
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

int read_whole_file(const char* path, std::string& into, std::size_t most) {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  // O_NONBLOCK: nothing waits for whoever writes into a pipe that somebody has put there.
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat found;
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    close(fd);
    return S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
  }
  const owned_file file(fdopen(fd, "r"));
  if (!file) {
    close(fd);
    return ENOMEM;
  }
  char buffer[4096];
  std::size_t used = 0;
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    used += got;
    if (used > most) return EFBIG;
    into.append(buffer, got);
  }
  return std::ferror(file.get()) != 0 ? errno : 0;
}

}  // namespace trimtab::base
