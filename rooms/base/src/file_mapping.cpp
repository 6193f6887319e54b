#include "file_mapping.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "trimtab/base/file_size_limit.hpp"

namespace trimtab::base {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t whole_pages(std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

// posix_fallocate falls back to writing every block on file systems that cannot reserve, which keeps the
// promise that a mapped page can be written.
int reserve_blocks(int fd, std::size_t from, std::size_t to) noexcept {
  const file_size_signal_held held;
  return posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(to - from));
}

file_identity identity_of(int fd) noexcept {
  struct stat status;
  if (fstat(fd, &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

int open_again(const char* path, const file_identity& identity) noexcept {
  const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || identity_of(fd) == identity) return fd;
  close(fd);
  errno = ESTALE;
  return -1;
}

}  // namespace trimtab::base
