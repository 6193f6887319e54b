// Random numbers that are the same with every compiler and C++ library, from a seed.
#pragma once

#include <cstdint>

#include "trimtab/base/hash.hpp"

namespace trimtab::steer {

class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : m_state(base::mix(seed)) {}
  std::uint64_t next() noexcept { return base::mix(m_state++); }
  // Below `limit`, which is not 0. Its unevenness, limit / 2^64, is of no account for spaces of knobs.
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }
  double share() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  bool coin() noexcept { return (next() & 1) != 0; }

 private:
  std::uint64_t m_state;
};

}  // namespace trimtab::steer
