// Bytes that a connection has not taken yet. One thread at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace trimtab::parcels::tcp {

class pending_bytes {
 public:
  bool is_empty() const noexcept { return m_begin == m_end; }
  std::span<const std::byte> front() const noexcept { return {m_buffer.get() + m_begin, m_end - m_begin}; }

  // False: there is no memory, and nothing has changed.
  bool append(std::span<const std::byte> bytes) noexcept {
    if (m_end + bytes.size() > m_capacity && !grow(m_end - m_begin + bytes.size())) return false;
    if (!bytes.empty()) std::memcpy(m_buffer.get() + m_end, bytes.data(), bytes.size());
    m_end += bytes.size();
    return true;
  }

  bool reserve(std::size_t bytes) noexcept { return m_end + bytes <= m_capacity || grow(m_end - m_begin + bytes); }

  void remove_front(std::size_t bytes) noexcept {
    m_begin += bytes;
    if (is_empty()) clear();
  }

  void clear() noexcept {
    m_begin = m_end = 0;
    if (m_capacity <= kept_capacity) return;
    m_buffer.reset();
    m_capacity = 0;
  }

 private:
  // A connection that has been slow once keeps no more memory than this.
  static constexpr std::size_t kept_capacity = std::size_t{64} << 10;

  bool grow(std::size_t capacity) noexcept {
    std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[capacity]);
    if (larger == nullptr) return false;
    if (!is_empty()) std::memcpy(larger.get(), m_buffer.get() + m_begin, m_end - m_begin);
    m_buffer = std::move(larger);
    m_capacity = capacity;
    m_end -= m_begin;
    m_begin = 0;
    return true;
  }

  std::unique_ptr<std::byte[]> m_buffer;
  std::size_t m_capacity = 0;
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
};

}  // namespace trimtab::parcels::tcp
