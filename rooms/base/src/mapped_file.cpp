#include "trimtab/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file_mapping.hpp"
#include "trimtab/base/address_space.hpp"
#include "trimtab/base/system_calls.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace trimtab::base {

namespace {

// Maps that part of the file at its place in `range`.
int map_part(int fd, std::byte* range, std::size_t from, std::size_t to) noexcept {
  if (mmap(range + from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(from)) ==
      MAP_FAILED)
    return errno;
  // A first touch would have the kernel fill up to megabytes around it with zeros, of which most may never be used.
  (void)madvise(range + from, to - from, MADV_RANDOM);
  return 0;
}

}  // namespace

int mapped_file::create(const char* path, std::size_t bytes, std::size_t reserve) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  const std::size_t length = std::strlen(path);
  if (length >= path_bytes) return ENAMETOOLONG;
  bytes = whole_pages(bytes);
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  m_identity = identity_of(fd);
  int error = reserve_blocks(fd, 0, bytes);
  if (error == 0) error = reserve_range(bytes, whole_pages(reserve < bytes ? bytes : reserve));
  if (error == 0) error = map_part(fd, m_data, 0, bytes);
  ::close(fd);
  if (error != 0) {
    close();
    unlink(path);
    return error;
  }
  m_size = bytes;
  std::memcpy(m_path, path, length + 1);
  return 0;
}

int mapped_file::reserve_range(std::size_t bytes, std::size_t reserve) noexcept {
  m_reserve = whole_pages(affordable_reserve(bytes, reserve));
  void* range = mmap(nullptr, m_reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED && m_reserve > bytes) {
    give_back_reserve(m_reserve);
    m_reserve = affordable_reserve(bytes, bytes);
    range = mmap(nullptr, m_reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (range != MAP_FAILED) {
    m_data = static_cast<std::byte*>(range);
    return 0;
  }
  const int error = errno;
  give_back_reserve(m_reserve);
  m_reserve = 0;
  return error;
}

int mapped_file::grow(std::size_t bytes) noexcept {
  bytes = whole_pages(bytes);
  if (bytes <= m_size) return 0;
  if (bytes > m_reserve) return EFBIG;
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  const int fd = open_again(m_path, m_identity);
  if (fd < 0) return errno;
  int error = reserve_blocks(fd, m_size, bytes);
  if (error == 0) error = map_part(fd, m_data, m_size, bytes);
  ::close(fd);
  if (error == 0) m_size = bytes;
  return error;
}

void mapped_file::populate(std::size_t offset, std::size_t bytes) noexcept {
  const system_call_section section;
  if (offset >= m_size || !section.is_permitted()) return;
  if (bytes > m_size - offset) bytes = m_size - offset;
  const std::size_t page = page_bytes();
  const std::size_t first = offset / page * page;
  if (madvise(m_data + first, offset + bytes - first, MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14: a read fault at least maps the page.
  for (std::size_t at = first; at < offset + bytes; at += page) (void)*reinterpret_cast<volatile const char*>(m_data + at);
}

int mapped_file::move_to(std::byte* to) noexcept {
  const system_call_section section;
  if (!section.is_permitted()) return EPERM;
  if (mremap(m_data, m_size, m_size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) return errno;
  m_data = to;
  return 0;
}

void mapped_file::detach() noexcept {
  // Nothing can be done if this fails: the mapping stays as it was.
  if (m_data != nullptr && may_call_system())
    (void)mmap(m_data, m_reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void mapped_file::close() noexcept {
  if (m_data != nullptr && may_call_system()) munmap(m_data, m_reserve);
  give_back_reserve(m_reserve);
  *this = mapped_file{};
}

void mapped_file::remove() noexcept {
  if (m_data != nullptr && may_call_system()) unlink(m_path);
  close();
}

}  // namespace trimtab::base
