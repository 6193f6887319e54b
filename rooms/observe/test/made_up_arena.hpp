// An arena of malloc in a buffer.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "malloc_arenas.hpp"

namespace trimtab::observe::testing {

// As glibc 2.36 lays an arena out (with_flag), and as 2.26 did.
struct made_up_arena {
  explicit made_up_arena(bool with_flag = true)
      : bins(with_flag ? 112 : 104), next(bins + 254 * 8 + 16), words((next + 64) / 8) {
    for (std::size_t i = 0; i < 127; ++i)
      set(bins + 16 * i, at(bins + 16 * i) - 16), set(bins + 16 * i + 8, at(bins + 16 * i) - 16);
    set(next, at(0));
  }
  std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(words.data()) + offset; }
  void set(std::size_t offset, std::uint64_t value) { words[offset / 8] = value; }
  // Throws std::bad_optional_access if it is not seen.
  malloc_arenas found() const { return malloc_arenas::find_within(words.data(), words.data() + words.size()).value(); }
  void lock(std::uint32_t value) { std::memcpy(words.data(), &value, sizeof value); }

  std::size_t bins, next;
  std::vector<std::uint64_t> words;
};

}  // namespace trimtab::observe::testing
