// Owned bytes: what messages are written into, and the memory below buffer<T>.
//
// Move-only. One thread at a time. Memory of its own is aligned to 64 bytes; bytes that were added and not yet written have
// any value.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

// How memory is given back to whoever has allocated it.
struct memory_release {
  void (*function)(void* context, std::byte* data, std::size_t size) noexcept = nullptr;  // nullptr: nothing to do
  void* context = nullptr;
};

// Memory with its owner's way to free it. A plain value: it frees nothing by itself.
struct memory_block {
  std::byte* data = nullptr;
  std::size_t size = 0;
  memory_release release = {};
};

class byte_buffer {
 public:
  static constexpr std::size_t alignment = 64;

  byte_buffer() noexcept = default;
  explicit byte_buffer(std::size_t size) { resize_uninitialized(size); }
  // Takes memory over without a copy. It is as full as it can be: to grow, the buffer moves into memory of its own.
  static byte_buffer take(memory_block memory) noexcept;
  byte_buffer(byte_buffer&& other) noexcept { swap(other); }
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    byte_buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~byte_buffer() { free_memory(); }

  std::byte* data() noexcept { return m_memory.data; }
  const std::byte* data() const noexcept { return m_memory.data; }
  std::size_t size() const noexcept { return m_size; }
  std::size_t capacity() const noexcept { return m_memory.size; }
  bool empty() const noexcept { return m_size == 0; }
  bytes_view view() const noexcept { return {m_memory.data, m_size}; }

  void clear() noexcept { m_size = 0; }  // keeps the memory
  void reserve(std::size_t capacity);
  void resize_uninitialized(std::size_t size);
  // Adds `count` bytes and returns where they begin. Throws std::bad_alloc or std::length_error, and has then changed
  // nothing.
  std::byte* extend(std::size_t count) {
    if (count > m_memory.size - m_size) [[unlikely]]
      grow_by(count);
    std::byte* const added = m_memory.data + m_size;
    m_size += count;
    return added;
  }
  void append(bytes_view bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  // Hands the memory out without a copy: `size` of the result is the capacity, because release needs that.
  memory_block release() noexcept;

  void swap(byte_buffer& other) noexcept {
    std::swap(m_memory, other.m_memory);
    std::swap(m_size, other.m_size);
  }

 private:
  void grow_by(std::size_t count);
  void move_to(std::size_t capacity);
  void free_memory() noexcept;

  memory_block m_memory;
  std::size_t m_size = 0;  // at most m_memory.size
};

}  // namespace trimtab::parcels
