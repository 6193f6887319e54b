// Small text files of /proc and /sys, read whole into the caller's buffer: no descriptor is kept (the program
// may close or count its descriptors), nothing is allocated, and errno stays what it was.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>

namespace trimtab::base {

// Bytes read (the text is NUL-terminated and cut off when too long), or -errno.
long read_file(const char* path, char* buffer, std::size_t bytes) noexcept;

// A regular file of any length (EINVAL: a pipe or a device), appended to `into`, which allocates: 0, or what errno calls the
// mistake; EFBIG: longer than `most` bytes.
int read_whole_file(const char* path, std::string& content, std::size_t limit = ~std::size_t{0});

// Replaces the file (a link is replaced, not followed): 0, or what errno calls the mistake.
int write_whole_file(const char* path, const std::string& text) noexcept;

// A file descriptor, closed with its owner. Not a FILE, which the C library allocates from the program's heap.
class owned_descriptor {
 public:
  explicit owned_descriptor(int number) noexcept : m_number(number) {}
  ~owned_descriptor() {
    if (m_number >= 0) close(m_number);
  }
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  int get() const noexcept { return m_number; }

 private:
  int m_number;
};

}  // namespace trimtab::base
