#include "file_mapping.hpp"

#include <fcntl.h>
#include <unistd.h>

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

int open_again(const char* path) noexcept { return open(path, O_RDWR | O_CLOEXEC); }

}  // namespace trimtab::base
