#include "trimtab/base/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "trimtab/base/file_size_limit.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

namespace {

int write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int append_file(const char* path, std::string_view text) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  const int before = errno;
  const file_size_signal_held held;
  // O_NONBLOCK: nothing waits for whoever reads a pipe that somebody has put there.
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : write_all(file, text);
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  errno = before;
  return error;
}

}  // namespace trimtab::base
