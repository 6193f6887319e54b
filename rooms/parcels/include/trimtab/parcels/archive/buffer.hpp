// Many values of one type for zero-copy transfer: buffer<double> is to a message what std::vector<double> is, but a writer
// can take it over instead of copying it, and its values are not set to zero at first.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/parcels/archive/byte_buffer.hpp"

namespace trimtab::parcels {

template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "trimtab: buffer<T> holds trivially copyable types; use std::vector<T> for others");
  static_assert(alignof(T) <= byte_buffer::alignment, "trimtab: buffer<T> is aligned to 64 bytes");

 public:
  using value_type = T;

  buffer() noexcept = default;
  // `count` values that are not initialized.
  explicit buffer(std::size_t count) : m_bytes(bytes_of(count)) {}
  // Takes the vector's memory over without a copy.
  explicit buffer(std::vector<T>&& values) : m_bytes(memory_of(std::move(values))) {}
  // Takes bytes over that hold values of T, aligned for it; what is left after the last whole value is ignored.
  explicit buffer(byte_buffer&& bytes) noexcept : m_bytes(std::move(bytes)) {}

  T* data() noexcept { return reinterpret_cast<T*>(m_bytes.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(m_bytes.data()); }
  std::size_t size() const noexcept { return m_bytes.size() / sizeof(T); }
  bool empty() const noexcept { return size() == 0; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size(); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }
  T& operator[](std::size_t index) noexcept { return data()[index]; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  std::span<T> values() noexcept { return {data(), size()}; }
  std::span<const T> values() const noexcept { return {data(), size()}; }

  // Added values are not initialized.
  void resize_uninitialized(std::size_t count) { m_bytes.resize_uninitialized(bytes_of(count)); }
  void clear() noexcept { m_bytes.clear(); }
  byte_buffer release() noexcept { return std::move(m_bytes); }

 private:
  static std::size_t bytes_of(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return count * sizeof(T);
  }

  static byte_buffer memory_of(std::vector<T>&& values) {
    auto* const owner = new std::vector<T>(std::move(values));
    const auto free_owner = [](void* context, std::byte*, std::size_t) noexcept {
      delete static_cast<std::vector<T>*>(context);
    };
    return byte_buffer::take({reinterpret_cast<std::byte*>(owner->data()),
                              owner->size() * sizeof(T),
                              {.function = free_owner, .context = owner}});
  }

  byte_buffer m_bytes;
};

}  // namespace trimtab::parcels
