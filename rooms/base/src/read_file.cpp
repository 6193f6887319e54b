#include "trimtab/base/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

long read_file(const char* path, char* buffer, std::size_t bytes) noexcept {
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
    const ssize_t count = read(fd, buffer + used, bytes - 1 - used);
    if (count < 0) result = -errno;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  close(fd);
  buffer[used] = '\0';
  errno = saved;
  return result < 0 ? result : static_cast<long>(used);
}

int read_whole_file(const char* path, std::string& content, std::size_t limit) {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  // O_NONBLOCK: nothing waits for whoever writes into a pipe that somebody has put there.
  const owned_descriptor file(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) return errno;
  struct stat status;
  if (fstat(file.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  char buffer[4096];
  std::size_t used = 0;
  for (;;) {
    const ssize_t count = read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : 0;
    used += static_cast<std::size_t>(count);
    if (used > limit) return EFBIG;
    content.append(buffer, static_cast<std::size_t>(count));
  }
}

int write_whole_file(const char* path, const std::string& text) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  // What a process that was killed has left; a link that somebody has put there is not followed.
  unlink(path);
  const owned_descriptor file(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno;
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = write(file.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace trimtab::base
