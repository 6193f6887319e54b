#include "transport/tcp_frame_reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace trimtab::parcels::tcp {

namespace {

// Some thousand small messages for each call of the system. A larger message gets a buffer of its size, which stays.
constexpr std::size_t usual_capacity = std::size_t{64} << 10;

}  // namespace

frame_header frame_reader::next_header() const noexcept {
  frame_header header;
  std::memcpy(&header, m_buffer.get() + m_begin, sizeof header);
  return header;
}

std::size_t frame_reader::next_frame_bytes() const noexcept {
  return size() < sizeof(frame_header) ? sizeof(frame_header) : frame_bytes(next_header().body_bytes);
}

// next() has accepted the header that begins here, if all of it is there: so its length is within the limit.
std::span<std::byte> frame_reader::space() noexcept {
  if (m_begin == m_end) m_begin = m_end = 0;
  const std::size_t needed = next_frame_bytes();
  if (needed > m_capacity && !grow(std::max(needed, usual_capacity))) {
    std::snprintf(m_fault.data(), m_fault.size(), "there is no memory for its message of %zu bytes", needed);
    return {};
  }
  const bool has_short_rest = m_begin > 0 && m_capacity - m_end < m_capacity / 4;
  if (m_begin + needed > m_capacity || has_short_rest) move_to_front();
  return {m_buffer.get() + m_end, m_capacity - m_end};
}

std::span<std::byte> frame_reader::space_for_many(std::size_t largest) noexcept {
  if (m_begin > 0) move_to_front();
  if (m_end == m_capacity && (m_capacity >= largest || !grow(std::max(2 * m_capacity, usual_capacity)))) return {};
  return {m_buffer.get() + m_end, m_capacity - m_end};
}

bool frame_reader::grow(std::size_t capacity) noexcept {
  std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[capacity]);
  if (larger == nullptr) return false;
  if (size() != 0) std::memcpy(larger.get(), m_buffer.get() + m_begin, size());
  m_buffer = std::move(larger);
  m_capacity = capacity;
  m_end = size();
  m_begin = 0;
  return true;
}

void frame_reader::move_to_front() noexcept {
  std::memmove(m_buffer.get(), m_buffer.get() + m_begin, size());
  m_end = size();
  m_begin = 0;
}

frame_reader::frame frame_reader::next() noexcept {
  if (m_fault[0] != '\0') return {frame_content::broken, {}};
  if (size() < sizeof(frame_header)) return {frame_content::incomplete, {}};
  const frame_header header = next_header();
  if (!is_acceptable(header)) return {frame_content::broken, {}};
  if (size() < frame_bytes(header.body_bytes)) return {frame_content::incomplete, {}};
  if (!has_clean_padding(header)) return {frame_content::broken, {}};
  const bytes_view body(m_buffer.get() + m_begin + sizeof header, header.body_bytes);
  m_begin += frame_bytes(header.body_bytes);
  return {header.kind == frame_kind::message ? frame_content::message : frame_content::leaving, body};
}

bool frame_reader::is_acceptable(const frame_header& header) noexcept {
  const bool is_message = header.kind == frame_kind::message;
  if (!is_message && header.kind != frame_kind::leaving) {
    std::snprintf(m_fault.data(), m_fault.size(), "it sent a frame of the unknown kind 0x%08x",
                  static_cast<unsigned>(header.kind));
    return false;
  }
  const std::size_t smallest = is_message ? 1 : 0;
  const std::size_t largest = is_message ? m_largest_message : 0;
  if (header.body_bytes >= smallest && header.body_bytes <= largest) return true;
  std::snprintf(m_fault.data(), m_fault.size(), "it sent a %s of %u bytes, expected %zu to %zu",
                is_message ? "message" : "frame of its leaving", header.body_bytes, smallest, largest);
  return false;
}

bool frame_reader::has_clean_padding(const frame_header& header) noexcept {
  const std::byte* body = m_buffer.get() + m_begin + sizeof header;
  const bool is_clean = std::all_of(body + header.body_bytes, body + padded(header.body_bytes),
                                    [](std::byte filling) { return filling == std::byte{0}; });
  if (!is_clean)
    std::snprintf(m_fault.data(), m_fault.size(), "it sent a message of %u bytes with other bytes than zeros behind it",
                  header.body_bytes);
  return is_clean;
}

}  // namespace trimtab::parcels::tcp
