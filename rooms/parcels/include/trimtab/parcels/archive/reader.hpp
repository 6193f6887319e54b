// Reads what a writer has written, from bytes that may be wrong.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "trimtab/parcels/archive/codecs.hpp"
#include "trimtab/parcels/archive/malformed_message.hpp"
#include "trimtab/parcels/archive/nesting.hpp"
#include "trimtab/parcels/archive/serializable.hpp"

namespace trimtab::parcels {

// Reads from bytes that outlive it. Throws malformed_message if they cannot be what was asked for: no bytes make it read
// outside them, build an invalid value, or allocate more memory than a fixed multiple of their size. One thread at a time.
// What was being read when it throws has any value.
class reader {
 public:
  static constexpr bool writes = false;

  explicit reader(bytes_view bytes) noexcept : m_bytes(bytes) {}
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  template <class... T>
  reader& operator()(T&... values) {
    if constexpr ((detail::check_serializable<T>() && ...)) {
      if constexpr ((detail::is_flat<T> && ...)) {
        read_flat(values...);
      } else {
        (read_value(values), ...);
      }
    }
    return *this;
  }

  template <class T>
  T read() {
    if constexpr (!detail::check_serializable<T>()) {
      __builtin_unreachable();  // the check has ended the compilation
    } else if constexpr (detail::is_flat<T>) {
      return read_bits<T>();
    } else if constexpr (detail::has_construct<T>) {
      const detail::nesting level = deeper();
      return read_at_least_one_byte([this] { return construct<T>::read(*this); });
    } else {
      T value{};
      read_value(value);
      return value;
    }
  }

  // The next bytes, where they are.
  bytes_view read_bytes(std::size_t count) {
    if (count > left()) [[unlikely]]
      fail_short(count);
    const bytes_view bytes = m_bytes.subspan(m_position, count);
    m_position += count;
    return bytes;
  }
  // How many elements follow, each of at least `element_bytes` bytes. More than the message has room for is refused.
  std::size_t read_count(std::size_t element_bytes);

  std::size_t left() const noexcept { return m_bytes.size() - m_position; }
  std::size_t position() const noexcept { return m_position; }
  void must_be_at_end() const;

  // Throws malformed_message. Both complete "expected ..., found ...".
  [[noreturn]] void fail(const char* expected, const char* actual) const;

  // For codecs: the caller holds the result while it reads what is inside.
  detail::nesting deeper() {
    if (m_depth == deepest_nesting) [[unlikely]]
      fail_deep();
    return detail::nesting(m_depth);
  }

 private:
  template <class T>
  void read_value(T& value) {
    using detail::form;
    if constexpr (detail::is_flat<T>) {
      read_flat(value);
    } else if constexpr (detail::form_of<T> == form::boolean) {
      value = static_cast<T>(read_bool());
    } else if constexpr (detail::form_of<T> == form::empty) {
      read_bytes(1);
    } else if constexpr (detail::has_construct<T>) {
      value = read<T>();
    } else if constexpr (detail::form_of<T> == form::standard) {
      detail::codec<T>::read(*this, value);
    } else if constexpr (detail::form_of<T> == form::by_fields) {
      detail::with_fields(value, [this](auto&... fields) { (*this)(fields...); });
    } else {
      read_by_user(value);
    }
  }

  template <class T>
  void read_by_user(T& value) {
    const detail::nesting level = deeper();
    read_at_least_one_byte([&] {
      if constexpr (detail::has_member_serialize<T>) {
        value.serialize(*this);
      } else {
        serialize(*this, value);
      }
    });
  }

  // The counterpart of the byte that a writer adds where a function of the user writes nothing.
  template <class function>
  auto read_at_least_one_byte(function&& read_user_part) {
    const std::size_t before = m_position;
    if constexpr (std::is_void_v<decltype(read_user_part())>) {
      read_user_part();
      if (m_position == before) read_bytes(1);
    } else {
      auto value = read_user_part();
      if (m_position == before) read_bytes(1);
      return value;
    }
  }

  template <class... T>
  void read_flat(T&... values) {
    const std::byte* from = read_bytes((sizeof(T) + ... + 0)).data();
    ((std::memcpy(static_cast<void*>(&values), from, sizeof(T)), from += sizeof(T)), ...);
  }

  template <class T>
  T read_bits() {
    std::array<std::byte, sizeof(T)> bits;
    std::memcpy(bits.data(), read_bytes(sizeof(T)).data(), sizeof(T));
    return std::bit_cast<T>(bits);
  }

  bool read_bool();
  [[noreturn]] void fail_short(std::size_t count) const;
  [[noreturn]] void fail_deep() const;

  bytes_view m_bytes;
  std::size_t m_position = 0;
  unsigned m_depth = 0;
};

}  // namespace trimtab::parcels
