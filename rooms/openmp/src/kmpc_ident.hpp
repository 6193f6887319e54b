// What clang's code tells the LLVM and Intel runtimes at every call.
#pragma once

#include <cstdint>
#include <cstring>

#include "hooks.hpp"

namespace trimtab::openmp {

// Layout fixed by the runtimes' interface (kmp.h, ident_t).
struct ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;  // ";file;function;line;column;;"
};
inline constexpr std::int32_t ident_work_sections = 0x400;

inline const char* source_of(const ident* where) noexcept { return where == nullptr ? nullptr : where->source; }

inline bool is_source_known(const ident* where) noexcept {
  return where != nullptr && where->source != nullptr && std::strncmp(where->source, ";unknown;", 9) != 0;
}

// Schedule numbers of the interface (kmp.h, enum sched_type); modifiers in the bits above.
inline observe::schedule schedule_of_llvm(std::int32_t kind, std::int64_t chunk) noexcept {
  using observe::schedule;
  constexpr std::int32_t modifiers = (1 << 29) | (1 << 30);
  switch (kind & ~modifiers) {
    case 33:
    case 65:
      return schedule::static_chunked;
    case 34:
    case 66:
      return chunk > 1 ? schedule::static_chunked : schedule::static_;
    case 35:
    case 67:
      return schedule::dynamic;
    case 36:
    case 68:
      return schedule::guided;
    case 37:
    case 69:
      return schedule::runtime;
    case 38:
    case 70:
      return schedule::auto_;
    case 91:
    case 92:
      return schedule::distribute;
    default:
      return schedule::dynamic;
  }
}

// Iterations of first, first + increment, ... up to and including last.
template <class number>
std::uint64_t inclusive_count(number first, number last, std::int64_t increment) noexcept {
  if (increment > 0)
    return last < first ? 0
                        : (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) /
                                  static_cast<std::uint64_t>(increment) +
                              1;
  if (increment < 0)
    return first < last ? 0
                        : (static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last)) /
                                  static_cast<std::uint64_t>(-increment) +
                              1;
  return 0;
}

}  // namespace trimtab::openmp
