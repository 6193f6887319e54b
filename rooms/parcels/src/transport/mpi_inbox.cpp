#include "transport/mpi_inbox.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace trimtab::parcels::mpi {

namespace {

constexpr std::string_view not_a_message = "it has sent something that is no message";

}  // namespace

std::size_t inbox::read(arrival& piece, message_sink& sink, std::size_t limit) noexcept {
  if (!piece.lost_reason.empty()) lose(piece.from, sink, piece.lost_reason);
  std::size_t count = 0;
  while (piece.read < piece.bytes && count < limit)
    count += m_message_bytes != 0 ? read_rest(piece, sink) : read_frame(piece, sink);
  return count;
}

std::size_t inbox::read_frame(arrival& piece, message_sink& sink) noexcept {
  frame_header header{};
  const std::size_t available = piece.bytes - piece.read - sizeof header;
  const std::byte* const bytes = piece.memory.get() + piece.read + sizeof header;
  std::memcpy(&header, bytes - sizeof header, sizeof header);
  piece.read += static_cast<std::uint32_t>(sizeof header);
  if (header.kind != frame_kind::message) return read_end(header.kind, piece.from, sink), 0;
  if (header.bytes == 0 || header.bytes > m_largest || m_state != state::open) return drop(piece, sink, not_a_message);
  const std::size_t padded = frame_size(header.bytes) - sizeof header;
  if (padded <= available) {
    piece.read += static_cast<std::uint32_t>(padded);
    sink.on_message(piece.from, {bytes, header.bytes});
    return 1;
  }
  if (!m_message) m_message.reset(new (std::nothrow) std::byte[frame_size(m_largest)]);
  if (!m_message) return drop(piece, sink, "this process has no memory for its message");
  m_message_bytes = header.bytes;
  m_frame_bytes = padded;
  m_copied = 0;
  return 0;
}

std::size_t inbox::read_rest(arrival& piece, message_sink& sink) noexcept {
  const std::size_t bytes = std::min<std::size_t>(m_frame_bytes - m_copied, piece.bytes - piece.read);
  std::memcpy(m_message.get() + m_copied, piece.memory.get() + piece.read, bytes);
  m_copied += bytes;
  piece.read += static_cast<std::uint32_t>(bytes);
  if (m_copied < m_frame_bytes) return 0;
  sink.on_message(piece.from, {m_message.get(), std::exchange(m_message_bytes, 0)});
  return 1;
}

void inbox::read_end(frame_kind kind, locality_number from, message_sink& sink) noexcept {
  if (kind == frame_kind::leaving && m_state == state::open) {
    m_state = state::left;
    m_is_gone->store(true);
    return sink.on_left(from);
  }
  m_has_ended |= kind == frame_kind::ending;
  lose(from, sink, m_has_ended ? "it has ended without leaving" : not_a_message);
}

std::size_t inbox::drop(arrival& piece, message_sink& sink, std::string_view reason) noexcept {
  piece.read = piece.bytes;  // nothing after that can be understood
  lose(piece.from, sink, reason);
  return 0;
}

void inbox::lose(locality_number from, message_sink& sink, std::string_view reason) noexcept {
  if (m_state != state::open) return;
  m_state = state::lost;
  m_is_gone->store(true);
  sink.on_lost(from, reason);
}

}  // namespace trimtab::parcels::mpi
