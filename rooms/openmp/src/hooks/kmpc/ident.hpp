// What clang's code tells the LLVM and Intel runtimes at every call.
#pragma once

#include <cstdint>
#include <cstring>

#include "hooks/hook.hpp"

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

inline const char* source_of(const ident* location) noexcept { return location == nullptr ? nullptr : location->source; }

inline bool is_source_known(const ident* location) noexcept {
  return location != nullptr && location->source != nullptr && std::strncmp(location->source, ";unknown;", 9) != 0;
}

// Schedule numbers of the interface (kmp.h, enum sched_type); modifiers in the bits above.
inline constexpr std::int32_t schedule_modifiers = (1 << 29) | (1 << 30);

inline observe::schedule schedule_of_llvm(std::int32_t kind) noexcept {
  using observe::schedule;
  switch (kind & ~schedule_modifiers) {
    case 33:
    case 45:  // balanced: one block a thread, of a multiple of the chunk (the modifier simd)
    case 65:
      return schedule::static_chunked;
    case 34:
    case 66:
      return schedule::static_;
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

// Static loops whose blocks go round the threads, and distribute's round the teams.
inline bool is_chunked_llvm(std::int32_t kind) noexcept {
  const std::int32_t bare = kind & ~schedule_modifiers;
  return bare == 33 || bare == 65 || bare == 91;
}

inline std::uint64_t magnitude(std::int64_t difference) noexcept {
  return difference < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(difference) : static_cast<std::uint64_t>(difference);
}

// Iterations of first, first + increment, ... up to and including last.
template <class number>
std::uint64_t inclusive_count(number first, number last, std::int64_t increment) noexcept {
  if (increment == 0 || (increment > 0 ? last < first : first < last)) return 0;
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
  return (increment > 0 ? to - from : from - to) / magnitude(increment) + 1;
}

// What a thread gets of a loop that is divided at its start.
struct own_part {
  std::uint64_t iterations;
  std::uint64_t blocks;
};

// Of a chunked loop up to `last`: its blocks lie `stride` apart, and the last one may reach beyond the loop.
template <class number, class signed_number>
own_part blocks_of(number lower, number upper, number last, signed_number stride, std::int64_t increment) noexcept {
  const bool is_past_end = increment < 0 ? upper < last : upper > last;
  const std::uint64_t block = inclusive_count(lower, is_past_end ? last : upper, increment);
  const std::uint64_t apart = increment == 0 ? 0 : magnitude(stride) / magnitude(increment);
  if (block == 0 || apart == 0) return {block, block == 0 ? 0u : 1u};
  const std::uint64_t rest = inclusive_count(lower, last, increment);
  const std::uint64_t whole = rest / apart, tail = rest % apart;
  return {whole * block + (tail < block ? tail : block), whole + (tail > 0 ? 1 : 0)};
}

}  // namespace trimtab::openmp
