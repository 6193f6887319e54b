// A message that waits for a server: who gets it, and its bytes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

inline std::size_t bytes_in(std::span<const bytes_view> parts) noexcept {
  std::size_t size = 0;
  for (const bytes_view part : parts) size += part.size();
  return size;
}

// Owned by one thread at a time: a client that fills it, the queue, the server. What a longer message has needed is kept, so
// memory is allocated only until the slots have seen such messages.
class message_slot {
 public:
  static constexpr std::uint32_t none = ~0u;

  // False: no memory; then the slot is as before.
  bool fill(locality_number to, std::span<const bytes_view> parts, std::size_t size) noexcept {
    if (size > m_inline.size() && size > m_capacity && !grow(size)) return false;
    m_receiver = to;
    m_size = size;
    std::byte* place = size > m_inline.size() ? m_long.get() : m_inline.data();
    for (const bytes_view part : parts) {
      if (!part.empty()) std::memcpy(place, part.data(), part.size());
      place += part.size();
    }
    return true;
  }

  locality_number receiver() const noexcept { return m_receiver; }
  bytes_view bytes() const noexcept { return {m_size > m_inline.size() ? m_long.get() : m_inline.data(), m_size}; }

  std::uint32_t next = none;  // slot after this one in a list of the server

 private:
  bool grow(std::size_t size) noexcept {
    const std::size_t capacity = std::bit_ceil(size);
    std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[capacity]);
    if (larger == nullptr) return false;
    m_long = std::move(larger);
    m_capacity = capacity;
    return true;
  }

  locality_number m_receiver = 0;
  std::size_t m_size = 0;
  std::size_t m_capacity = 0;
  std::unique_ptr<std::byte[]> m_long;
  std::array<std::byte, 216> m_inline;
};

}  // namespace trimtab::parcels
