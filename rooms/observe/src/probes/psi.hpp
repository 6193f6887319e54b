#pragma once

#include <cstdint>

namespace trimtab::observe {

struct pressure {
  bool has_some = false;
  bool has_full = false;
  std::uint64_t some_us = 0;  // time in which at least one task waited
  std::uint64_t full_us = 0;  // time in which all tasks that were not idle waited
};

// One file of pressure stall information. error: 0 or the errno of what could not be read.
pressure read_pressure(const char* path, int& error) noexcept;

}  // namespace trimtab::observe
