// Small text files of /proc and /sys, read whole into the caller's buffer: no descriptor is kept (the program
// may close or count its descriptors) and nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::observe {

// Bytes read (the text is NUL-terminated and cut off when too long), or -errno.
long read_file(const char* path, char* into, std::size_t bytes) noexcept;

// The number behind `key` in lines of "key value" or "key: value"; false when there is none.
bool find_number(const char* text, const char* key, std::uint64_t& value) noexcept;

}  // namespace trimtab::observe
