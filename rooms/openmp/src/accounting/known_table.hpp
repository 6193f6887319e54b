// What a thread has found out at places before: of regions, constructs and calls.
#pragma once

#include <bit>
#include <cstdint>

namespace trimtab::openmp {

// What is known of a place stands in one of `near_entries` entries from where its address points to; a place that finds none
// of them free takes the first. One thread.
template <class known, std::uint32_t size, std::uint32_t near_entries = 8>
struct known_table {
  static_assert(std::has_single_bit(size));
  static constexpr std::uint32_t near = near_entries;
  known entries[size + near - 1];

  // The highest bits of the product (Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4).
  known* first_for(const void* place) noexcept {
    constexpr std::uint64_t spreads = 0x9e3779b97f4a7c15u;
    constexpr int unused_bits = 64 - std::bit_width(size - 1);
    return &entries[(reinterpret_cast<std::uintptr_t>(place) * spreads) >> unused_bits];
  }
  // nullptr: none.
  template <class predicate>
  known* find(const void* place, predicate matches) noexcept {
    known* const first = first_for(place);
    if (matches(*first)) [[likely]]
      return first;
    for (known* slot = first + 1; slot != first + near; ++slot)
      if (matches(*slot)) return slot;
    return nullptr;
  }
  template <class predicate>
  known& free_for(const void* place, predicate is_free) noexcept {
    known* const first = first_for(place);
    for (known* slot = first; slot != first + near; ++slot)
      if (is_free(*slot)) return *slot;
    return *first;
  }
};

}  // namespace trimtab::openmp
