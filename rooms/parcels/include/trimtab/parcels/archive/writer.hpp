// Writes values as bytes: little-endian, one after the other, without alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/parcels/archive/buffer.hpp"
#include "trimtab/parcels/archive/byte_buffer.hpp"
#include "trimtab/parcels/archive/codecs.hpp"
#include "trimtab/parcels/archive/nesting.hpp"
#include "trimtab/parcels/archive/serializable.hpp"

namespace trimtab::parcels {

// What a writer does with blocks of at least writer::large_block bytes: content of vectors, strings and buffers whose
// elements are copied as bytes.
enum class large_blocks : std::uint8_t {
  copied,
  kept,  // content of a buffer<T> or std::vector<T> that is moved into the writer stays where it is, and the writer keeps it
  referenced,  // the same; and what is not moved stays where it is, too: the caller keeps it, unchanged, until all is sent
};

// Appends to a buffer, after what it already has. One thread at a time; the buffer must not be used otherwise meanwhile.
// Throws what allocation throws, and std::length_error if values are nested more than deepest_nesting times; the buffer may
// then end with a part of the value.
class writer {
 public:
  static constexpr bool writes = true;
  static constexpr std::size_t large_block = 4096;

  explicit writer(byte_buffer& bytes, large_blocks blocks = large_blocks::copied) noexcept
      : m_buffer(bytes), m_start(bytes.size()), m_blocks(blocks) {}
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  template <class... T>
  writer& operator()(T&&... values) {
    if constexpr ((detail::check_serializable<std::remove_cvref_t<T>>() && ...)) {
      if constexpr ((detail::is_flat<std::remove_cvref_t<T>> && ...)) {
        write_flat(values...);
      } else {
        (write(std::forward<T>(values)), ...);
      }
    }
    return *this;
  }

  void write_bytes(bytes_view bytes) { m_buffer.append(bytes); }
  // Like write_bytes, or refers to the bytes: see large_blocks.
  void write_block(bytes_view bytes) {
    if (m_blocks == large_blocks::referenced && bytes.size() >= large_block) {
      refer_to(bytes);
    } else {
      write_bytes(bytes);
    }
  }
  // A number of elements: one byte if it is below 255.
  void write_count(std::size_t count) {
    if (count < long_count) {
      write_flat(static_cast<std::uint8_t>(count));
    } else {
      write_flat(static_cast<std::uint8_t>(long_count), static_cast<std::uint64_t>(count));
    }
  }
  static constexpr std::size_t long_count = 255;

  // Bytes that this writer has written, those that it refers to included.
  std::size_t size() const noexcept { return m_buffer.size() - m_start + m_referred; }
  // All that this writer has written, in order. Valid until the writer or the buffer changes.
  std::vector<bytes_view> parts() const;

  // As if it were new, for what follows in the buffer.
  void restart() noexcept {
    m_start = m_buffer.size();
    m_referred = 0;
    m_references.clear();
    m_kept.clear();
  }

  // For codecs: the caller holds the result while it writes what is inside.
  detail::nesting deeper() {
    if (m_depth == deepest_nesting) [[unlikely]]
      detail::throw_too_deep();
    return detail::nesting(m_depth);
  }

 private:
  struct reference {
    std::size_t position;  // in m_buffer, where the bytes belong
    bytes_view bytes;
  };

  template <class... T>
  void write_flat(const T&... values) {
    std::byte* to = m_buffer.extend((sizeof(T) + ... + 0));
    ((std::memcpy(to, &values, sizeof(T)), to += sizeof(T)), ...);
  }

  template <class T>
  void write(T&& value) {
    using plain = std::remove_cvref_t<T>;
    if constexpr (detail::is_movable_block<plain> && !std::is_reference_v<T>) {
      write_moved(std::move(value));
    } else if constexpr (detail::form_of<plain> == detail::form::by_user) {
      write_by_user(const_cast<plain&>(value));
    } else {
      write_value(value);
    }
  }

  template <class T>
  void write_value(const T& value) {
    using detail::form;
    if constexpr (detail::is_flat<T>) {
      write_flat(value);
    } else if constexpr (detail::form_of<T> == form::boolean) {
      write_flat(static_cast<std::uint8_t>(static_cast<bool>(value)));
    } else if constexpr (detail::form_of<T> == form::empty) {
      write_flat(std::uint8_t{0});
    } else if constexpr (detail::form_of<T> == form::standard) {
      detail::codec<T>::write(*this, value);
    } else {
      detail::with_fields(value, [this](const auto&... fields) { (*this)(fields...); });
    }
  }

  // A function that writes nothing would make a message without bytes for an element.
  template <class T>
  void write_by_user(T& value) {
    const detail::nesting level = deeper();
    const std::size_t before = size();
    if constexpr (detail::has_member_serialize<T>) {
      value.serialize(*this);
    } else {
      serialize(*this, value);
    }
    if (size() == before) write_flat(std::uint8_t{0});
  }

  template <class T>
  void write_moved(T&& values) {
    const std::size_t bytes = values.size() * sizeof(*values.data());
    if (m_blocks == large_blocks::copied || bytes < large_block) {
      write_value(values);
    } else {
      write_count(values.size());
      keep(buffer<typename T::value_type>(std::move(values)).release());
    }
  }

  void refer_to(bytes_view bytes);
  void keep(byte_buffer memory);

  byte_buffer& m_buffer;
  std::size_t m_start;
  std::size_t m_referred = 0;  // bytes in m_references
  unsigned m_depth = 0;
  const large_blocks m_blocks;
  std::vector<reference> m_references;
  std::vector<byte_buffer> m_kept;
};

}  // namespace trimtab::parcels
