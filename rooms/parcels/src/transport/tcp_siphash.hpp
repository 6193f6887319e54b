// SipHash-2-4 with 128 bits of output: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012, and the
// authors' extension to 128 bits. A message authentication code: without the key nobody can compute it for bytes of which he
// has not seen it. It is no hash that resists collisions for somebody who knows the key.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace trimtab::parcels::tcp {

using siphash_key = std::array<std::byte, 16>;
using siphash_code = std::array<std::byte, 16>;

siphash_code siphash(const siphash_key& key, std::span<const std::byte> bytes) noexcept;

// Takes the same time wherever the two differ: so nobody can guess a code byte by byte.
bool is_same_code(const siphash_code& left, const siphash_code& right) noexcept;

}  // namespace trimtab::parcels::tcp
