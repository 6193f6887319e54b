// Small text files of /proc and /sys, read whole into the caller's buffer: no descriptor is kept (the program
// may close or count its descriptors), nothing is allocated, and errno stays what it was.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace trimtab::base {

// Bytes read (the text is NUL-terminated and cut off when too long), or -errno.
long read_file(const char* path, char* into, std::size_t bytes) noexcept;

// A regular file of any length (EINVAL: a pipe or a device), appended to `into`, which allocates: 0, or what errno calls the
// mistake; EFBIG: longer than `most` bytes.
int read_whole_file(const char* path, std::string& into, std::size_t most = ~std::size_t{0});

// Closed with its owner.
struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using owned_file = std::unique_ptr<std::FILE, file_closer>;

}  // namespace trimtab::base
