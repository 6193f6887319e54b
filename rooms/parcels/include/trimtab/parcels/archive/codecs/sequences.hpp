// Sequences: the number of elements, then the elements. All with the same elements have the same bytes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "trimtab/parcels/archive/buffer.hpp"
#include "trimtab/parcels/archive/form.hpp"

namespace trimtab::parcels::detail {

// Contiguous values whose memory a writer may take over.
template <class T>
inline constexpr bool is_movable_block = false;
template <class T>
inline constexpr bool is_movable_block<buffer<T>> = is_flat<T>;
template <class T>
inline constexpr bool is_movable_block<std::vector<T>> = is_flat<T>;

// Values in a message, which need not be aligned there. A container that is assigned from these writes its elements once,
// without setting them to zero first.
template <class T>
class packed_values {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;

  explicit packed_values(const std::byte* place) noexcept : m_place(place) {}

  T operator*() const noexcept {
    std::array<std::byte, sizeof(T)> bits;
    std::memcpy(bits.data(), m_place, sizeof(T));
    return std::bit_cast<T>(bits);
  }
  T operator[](std::ptrdiff_t index) const noexcept { return *(*this + index); }
  packed_values& operator++() noexcept { return *this += 1; }
  packed_values& operator--() noexcept { return *this += -1; }
  packed_values& operator+=(std::ptrdiff_t count) noexcept {
    m_place += count * static_cast<std::ptrdiff_t>(sizeof(T));
    return *this;
  }
  packed_values operator+(std::ptrdiff_t count) const noexcept { return packed_values(*this) += count; }
  std::ptrdiff_t operator-(const packed_values& other) const noexcept {
    return (m_place - other.m_place) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  bool operator==(const packed_values&) const noexcept = default;

 private:
  const std::byte* m_place;
};

void write_elements(auto& ar, const auto& values) {
  const auto level = ar.deeper();
  ar.write_count(values.size());
  for (const auto& value : values) ar(value);
}

void write_contiguous(auto& ar, const auto& values) {
  ar.write_count(values.size());
  ar.write_block(std::as_bytes(std::span(values.data(), values.size())));
}

template <class T>
void read_packed(auto& ar, auto& values) {
  const std::size_t count = ar.read_count(sizeof(T));
  const packed_values<T> first(ar.read_bytes(count * sizeof(T)).data());
  values.assign(first, first + static_cast<std::ptrdiff_t>(count));
}

// Elements are bigger in memory than in the message: room is reserved only for as many as the message has bytes for.
template <class T>
void read_elements(auto& ar, auto& values) {
  const auto level = ar.deeper();
  const std::size_t count = ar.read_count(least_bytes<T>());
  values.clear();
  if constexpr (requires { values.reserve(count); }) values.reserve(std::min(count, ar.left() / sizeof(T)));
  for (std::size_t i = 0; i < count; ++i) values.push_back(ar.template read<T>());
}

template <class container>
struct sequence_codec {
  using value = typename container::value_type;
  using parts = type_list<value>;
  static constexpr const char* shape = "sequence";

  static void write(auto& ar, const container& values) {
    if constexpr (is_flat<value> && requires { values.data(); }) {
      write_contiguous(ar, values);
    } else {
      write_elements(ar, values);
    }
  }

  static void read(auto& ar, container& values) {
    if constexpr (is_flat<value>) {
      read_packed<value>(ar, values);
    } else {
      read_elements<value>(ar, values);
    }
  }
};

template <class T, class allocator>
struct codec<std::vector<T, allocator>> : sequence_codec<std::vector<T, allocator>> {};
template <class T, class allocator>
struct codec<std::deque<T, allocator>> : sequence_codec<std::deque<T, allocator>> {};
template <class T, class allocator>
struct codec<std::list<T, allocator>> : sequence_codec<std::list<T, allocator>> {};
template <class character, class traits, class allocator>
struct codec<std::basic_string<character, traits, allocator>>
    : sequence_codec<std::basic_string<character, traits, allocator>> {};

template <class T>
  requires(is_flat<T>)
struct codec<buffer<T>> {
  using parts = type_list<T>;
  static constexpr const char* shape = "sequence";

  static void write(auto& ar, const buffer<T>& values) { write_contiguous(ar, values); }
  static void read(auto& ar, buffer<T>& values) {
    const std::size_t count = ar.read_count(sizeof(T));
    const bytes_view bytes = ar.read_bytes(count * sizeof(T));
    values.resize_uninitialized(count);
    if (count != 0) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  }
};

// Eight to a byte, the first in its lowest bit.
template <class allocator>
struct codec<std::vector<bool, allocator>> {
  using parts = type_list<>;
  static constexpr const char* shape = "bits";

  static void write(auto& ar, const std::vector<bool, allocator>& bits) {
    ar(static_cast<std::uint64_t>(bits.size()));
    for (std::size_t first = 0; first < bits.size(); first += 8) {
      unsigned byte = 0;
      for (std::size_t i = first; i < std::min(first + 8, bits.size()); ++i) byte |= unsigned{bits[i]} << (i - first);
      ar(static_cast<std::uint8_t>(byte));
    }
  }

  static void read(auto& ar, std::vector<bool, allocator>& bits) {
    const auto count = ar.template read<std::uint64_t>();
    if (count / 8 > ar.left()) ar.fail("at most 8 bits for each byte that is left", "a greater number");
    const bytes_view bytes = ar.read_bytes(static_cast<std::size_t>(count + 7) / 8);
    bits.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = (std::to_integer<unsigned>(bytes[i / 8]) >> i % 8 & 1) != 0;
  }
};

}  // namespace trimtab::parcels::detail
