// What probes read from text files of /proc and /sys.
#pragma once

#include <cstdint>

#include "trimtab/base/read_file.hpp"

namespace trimtab::observe {

using base::read_file;

// The number behind `key` in lines of "key value" or "key: value"; false when there is none.
bool find_number(const char* text, const char* key, std::uint64_t& value) noexcept;

}  // namespace trimtab::observe
