// Cuts the bytes of a connection into frames. Pure: it knows no socket. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "transport/tcp_frames.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels::tcp {

enum class frame_content : std::uint8_t {
  incomplete,  // more bytes are needed
  message,
  leaving,
  broken,  // this is no frame, or one that may not come here: nothing behind it can be read
};

class frame_reader {
 public:
  explicit frame_reader(std::size_t largest_message) noexcept : m_largest_message(largest_message) {}

  // Where the next bytes go; at least one byte, unless there is no memory. Ends what next() has returned.
  std::span<std::byte> space() noexcept;
  // The same where whole frames wait to be taken: the buffer grows, up to `most` bytes. Empty: it is full.
  std::span<std::byte> space_for_many(std::size_t largest) noexcept;
  void add(std::size_t bytes) noexcept { m_end += bytes; }

  struct frame {
    frame_content content;
    bytes_view body;  // aligned to 8
  };
  frame next() noexcept;

  // A sentence's end that says what is wrong.
  std::string_view fault() const noexcept { return m_fault.data(); }
  bool has_bytes() const noexcept { return m_begin != m_end; }
  std::size_t capacity() const noexcept { return m_capacity; }

 private:
  std::size_t size() const noexcept { return m_end - m_begin; }
  std::size_t next_frame_bytes() const noexcept;
  frame_header next_header() const noexcept;
  bool is_acceptable(const frame_header& header) noexcept;
  bool has_clean_padding(const frame_header& header) noexcept;
  bool grow(std::size_t capacity) noexcept;
  void move_to_front() noexcept;

  std::size_t m_largest_message;
  // Bytes m_begin to m_end have been read from the connection and belong to frames that were not returned yet. m_begin is a
  // multiple of 8, because frames are, so bodies are aligned.
  std::unique_ptr<std::byte[]> m_buffer;
  std::size_t m_capacity = 0;
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
  std::array<char, 160> m_fault{};
};

}  // namespace trimtab::parcels::tcp
