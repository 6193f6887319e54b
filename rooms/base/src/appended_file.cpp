#include "trimtab/base/appended_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "file_mapping.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

namespace {

constexpr std::size_t usual_window_bytes = 256 * 1024;

// nullptr and errno where the kernel grants none.
std::byte* map(int fd, std::size_t offset, std::size_t bytes) noexcept {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

}  // namespace

int appended_file::create(const char* path, std::size_t bytes) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  if (m_failure != 0) return m_failure;
  const std::size_t length = std::strlen(path);
  if (length >= path_bytes) return m_failure = ENAMETOOLONG;
  bytes = whole_pages(bytes);
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return m_failure = errno;
  m_identity = identity_of(fd);
  m_failure = reserve_blocks(fd, 0, bytes);
  if (m_failure == 0 && (m_beginning = map(fd, 0, bytes)) == nullptr) m_failure = errno;
  ::close(fd);
  if (m_failure != 0) {
    unlink(path);
    return m_failure;
  }
  m_beginning_bytes = m_size = bytes;
  std::memcpy(m_path, path, length + 1);
  return 0;
}

std::byte* appended_file::place(std::size_t offset, std::size_t bytes) noexcept {
  if (offset + bytes <= m_beginning_bytes) return m_beginning + offset;
  const auto is_in_window = [&] { return offset >= m_window_offset && offset + bytes <= m_window_offset + m_window_bytes; };
  if (!is_in_window()) {
    const system_call_section section;
    if (m_failure != 0 || m_beginning == nullptr || !section.is_permitted()) return nullptr;
    const int saved = errno;
    m_failure = move_window(offset, bytes);
    errno = saved;
    if (m_failure != 0) return nullptr;
  }
  return m_window + (offset - m_window_offset);
}

int appended_file::move_window(std::size_t offset, std::size_t bytes) noexcept {
  const int fd = open_again(m_path, m_identity);
  if (fd < 0) return errno;
  int error = offset + bytes <= m_size ? 0 : grow(fd, offset + bytes);
  if (error == 0) {
    const std::size_t from = offset / page_bytes() * page_bytes();
    const std::size_t to = std::min(m_size, std::max(from + usual_window_bytes, whole_pages(offset + bytes)));
    std::byte* const moved = map(fd, from, to - from);
    if (moved == nullptr) error = errno;
    if (moved != nullptr) {
      if (m_window != nullptr) munmap(m_window, m_window_bytes);
      m_window = moved;
      m_window_offset = from;
      m_window_bytes = to - from;
    }
  }
  ::close(fd);
  return error;
}

// Doubles, so that a long file has few parts; where there is no room for that, takes what is needed.
int appended_file::grow(int fd, std::size_t needed) noexcept {
  const std::size_t smallest = whole_pages(needed);
  for (const std::size_t wanted : {std::max(2 * m_size, smallest), smallest}) {
    const int error = reserve_blocks(fd, m_size, wanted);
    if (error != 0 && wanted != smallest) continue;
    if (error == 0) m_size = wanted;
    return error;
  }
  return EFBIG;
}

void appended_file::close() noexcept {
  if (may_call_system()) {
    if (m_beginning != nullptr) munmap(m_beginning, m_beginning_bytes);
    if (m_window != nullptr) munmap(m_window, m_window_bytes);
  }
  *this = appended_file{};
}

void appended_file::remove() noexcept {
  if (m_beginning != nullptr && may_call_system()) unlink(m_path);
  close();
}

}  // namespace trimtab::base
