// Small text files of /proc and /sys, read whole into the caller's buffer: no descriptor is kept (the program
// may close or count its descriptors), nothing is allocated, and errno stays what it was.
#pragma once

#include <cstddef>

namespace trimtab::base {

// Bytes read (the text is NUL-terminated and cut off when too long), or -errno.
long read_file(const char* path, char* into, std::size_t bytes) noexcept;

}  // namespace trimtab::base
