// A connection during the start: whole frames, read to their last byte and not beyond, because what follows belongs to
// whoever takes the socket over. Never blocks. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "transport/tcp_frames.hpp"
#include "transport/tcp_socket.hpp"

namespace trimtab::parcels::tcp {

enum class arrival : std::uint8_t {
  none,
  frame,
  closed,  // by the other side, or it failed
  broken,  // the bytes are no frame, or it is longer than allowed
};

class control_channel {
 public:
  control_channel() noexcept = default;
  explicit control_channel(descriptor socket) noexcept : m_socket(std::move(socket)) {}

  bool is_open() const noexcept { return m_socket.is_open(); }
  int socket() const noexcept { return m_socket.get(); }
  descriptor release() noexcept { return std::move(m_socket); }
  void close() noexcept { m_socket.close(); }

  // Takes the frame over, and writes what can be written at once.
  void send(frame_kind kind, std::span<const std::byte> body);
  void flush() noexcept;
  bool has_unsent() const noexcept { return m_sent != m_unsent.size(); }
  short poll_events() const noexcept;

  // Reads until a frame is whole. After `frame`, kind() and body() are valid until the next call.
  arrival receive(std::size_t largest_body);
  frame_kind kind() const noexcept { return m_header.kind; }
  std::span<const std::byte> body() const noexcept;
  // The body, if it has exactly this form.
  template <typename Body>
  bool get(Body& body) const noexcept;

  // Why it is closed.
  std::string error() const { return m_error == 0 ? "the connection was closed" : error_text(m_error); }

 private:
  arrival fill(std::byte* target, std::size_t wanted) noexcept;

  descriptor m_socket;
  std::vector<std::byte> m_unsent;
  std::size_t m_sent = 0;
  frame_header m_header{};
  std::vector<std::byte> m_body;  // with its padding
  std::size_t m_received = 0;     // bytes of the frame, header included
  bool m_is_whole = false;
  int m_error = 0;
};

template <typename Body>
bool control_channel::get(Body& body) const noexcept {
  const std::span<const std::byte> bytes = this->body();
  if (bytes.size() != sizeof body) return false;
  std::memcpy(&body, bytes.data(), sizeof body);
  return true;
}

}  // namespace trimtab::parcels::tcp
