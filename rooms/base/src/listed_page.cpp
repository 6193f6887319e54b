#include "trimtab/base/listed_page.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file_mapping.hpp"
#include "trimtab/base/file_size_limit.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

namespace {

constexpr std::size_t mark_bytes = 8;

// Where the page begins, or a negative errno. One call appends all of it, so that pages of two processes never mix.
std::int64_t append_page(int file, const std::byte* page, file_identity& identity) noexcept {
  struct stat status;
  if (fstat(file, &status) != 0) return -errno;
  if (!S_ISREG(status.st_mode)) return -EINVAL;
  identity = {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
  // Behind part of a page, which a full disk has left, no page can be found.
  if (status.st_size % listed_page::bytes != 0) return -EILSEQ;
  const file_size_signal_held held;
  const ssize_t written = ::write(file, page, listed_page::bytes);
  if (written < 0) return -errno;
  if (static_cast<std::size_t>(written) != listed_page::bytes) return -ENOSPC;
  const off_t end = lseek(file, 0, SEEK_CUR);
  if (end < 0) return -errno;
  return end % static_cast<off_t>(listed_page::bytes) == 0 ? end - static_cast<off_t>(listed_page::bytes) : -EILSEQ;
}

}  // namespace

int listed_page::add(const char* path, const std::byte* page) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  const std::size_t length = std::strlen(path);
  if (length >= path_bytes) return ENAMETOOLONG;
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  const std::int64_t place = append_page(file, page, m_identity);
  if (place >= 0) {
    m_place = place;
    std::memcpy(m_path, path, length + 1);
  }
  close(file);
  return place < 0 ? static_cast<int>(-place) : 0;
}

int listed_page::write(const std::byte* page) const noexcept { return write_at_place(page, bytes); }

int listed_page::withdraw() const noexcept {
  constexpr std::byte nothing[mark_bytes] = {};
  return write_at_place(nothing, mark_bytes);
}

int listed_page::write_at_place(const std::byte* from, std::size_t count) const noexcept {
  if (m_place < 0) return ENOENT;
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  const int file = open_again(m_path, m_identity);
  if (file < 0) return errno;
  const file_size_signal_held held;
  const ssize_t written = pwrite(file, from, count, m_place);
  const int error = written < 0 ? errno : static_cast<std::size_t>(written) == count ? 0 : ENOSPC;
  close(file);
  return error;
}

}  // namespace trimtab::base
