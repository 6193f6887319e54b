// An arena of malloc in a buffer.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "malloc_arenas.hpp"

namespace trimtab::observe::testing {

// As glibc 2.36 lays an arena out (with_flag), and as 2.26 did.
struct made_up_arena {
  explicit made_up_arena(bool with_flag = true, std::size_t words_before = 0)
      : bins(with_flag ? 112 : 104), next(bins + 254 * 8 + 16), before(words_before), words(before + (next + 64) / 8) {
    for (std::size_t bin = 0; bin < 127; ++bin) {
      set(bins + 16 * bin, at(bins + 16 * bin) - 16);
      set(bins + 16 * bin + 8, at(bins + 16 * bin) - 16);
    }
    set(next, at(0));
    set(next + 16, 1);          // a thread uses it
    set(next + 24, 33 * 4096);  // and it has so many bytes
  }
  std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(&words[before]) + offset; }
  void set(std::size_t offset, std::uint64_t value) { words[before + offset / 8] = value; }
  // Throws std::bad_optional_access if it is not seen.
  malloc_arenas found() const { return malloc_arenas::find_within(words.data(), words.data() + words.size()).value(); }
  void lock(std::uint32_t value) { std::memcpy(&words[before], &value, sizeof value); }

  std::size_t bins, next, before;
  std::vector<std::uint64_t> words;
};

}  // namespace trimtab::observe::testing
