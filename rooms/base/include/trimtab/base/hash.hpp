// Integer mixing for the open-addressed tables of the recording path.
#pragma once

#include <cstdint>

namespace trimtab::base {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// One multiplication: enough where the key is already well spread in its low bits and speed counts.
constexpr std::uint64_t mix_fast(std::uint64_t value) noexcept {
  value *= 0x9e3779b97f4a7c15u;
  return value ^ (value >> 32);
}

}  // namespace trimtab::base
