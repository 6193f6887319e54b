// What distinguishes a profile row from all others of its lane: the fields that it begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trimtab/observe/format.hpp"

namespace trimtab::observe {

struct row_identity {
  std::uint32_t subject;
  metric what;
  std::uint16_t flags;
  std::uint32_t about;
  std::uint32_t in_region;
};
static_assert(sizeof(row_identity) == 16 && offsetof(profile_row, subject) == 0 && offsetof(profile_row, count) == 16);

// Two independent multiplications: it is computed for each event that is added to a row.
inline std::uint64_t hash_of(const row_identity& identity) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, &identity, sizeof halves);
  const std::uint64_t mixed = halves[0] * 0x9e3779b97f4a7c15u + halves[1] * 0xbf58476d1ce4e5b9u;
  return mixed ^ (mixed >> 32);
}

inline bool is_row_of(const profile_row& row, const row_identity& identity) noexcept {
  return std::memcmp(&row, &identity, sizeof identity) == 0;
}

}  // namespace trimtab::observe
