// What distinguishes a profile row from all others of its lane: the fields that it begins with.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trimtab/observe/format.hpp"

namespace trimtab::observe {

// Packed as the fields lie in memory. Put together by shifts, not by a copy of the fields: a wide load behind narrow stores
// would wait for them, which takes longer than all the rest of an event.
class row_identity {
 public:
  row_identity(std::uint32_t subject, metric measure, std::uint16_t flags, std::uint32_t about_lane,
               std::uint32_t in_region) noexcept
      : m_low(std::uint64_t{subject} | std::uint64_t{static_cast<std::uint16_t>(measure)} << 32 |
              std::uint64_t{flags} << 48),
        m_high(std::uint64_t{about_lane} | std::uint64_t{in_region} << 32) {}

  std::uint32_t subject() const noexcept { return static_cast<std::uint32_t>(m_low); }

  // Two independent multiplications: it is computed for each event that is added to a row.
  std::uint64_t hash() const noexcept {
    const std::uint64_t mixed = m_low * 0x9e3779b97f4a7c15u + m_high * 0xbf58476d1ce4e5b9u;
    return mixed ^ (mixed >> 32);
  }

  bool is_of(const profile_row& row) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, &row, sizeof halves);
    return halves[0] == m_low && halves[1] == m_high;
  }

  void write(profile_row& row) const noexcept {
    const std::uint64_t halves[2] = {m_low, m_high};
    std::memcpy(static_cast<void*>(&row), halves, sizeof halves);
  }

 private:
  std::uint64_t m_low, m_high;
};
static_assert(std::endian::native == std::endian::little && offsetof(profile_row, subject) == 0 &&
              offsetof(profile_row, what) == 4 && offsetof(profile_row, flags) == 6 && offsetof(profile_row, about) == 8 &&
              offsetof(profile_row, in_region) == 12 && offsetof(profile_row, count) == 16);

}  // namespace trimtab::observe
