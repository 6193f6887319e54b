#include "transport/tcp_control_channel.hpp"

#include <poll.h>

#include <cerrno>

namespace trimtab::parcels::tcp {

void control_channel::send(frame_kind kind, std::span<const std::byte> body) {
  const frame_header header{static_cast<std::uint32_t>(body.size()), kind};
  const std::span<const std::byte> head = bytes_of(header);
  m_unsent.insert(m_unsent.end(), head.begin(), head.end());
  m_unsent.insert(m_unsent.end(), body.begin(), body.end());
  m_unsent.resize(m_unsent.size() + padded(body.size()) - body.size());
  flush();
}

// An error is left to receive(), which meets it as well and says it.
void control_channel::flush() noexcept {
  while (has_unsent()) {
    const ssize_t written =
        ::send(m_socket.get(), m_unsent.data() + m_sent, m_unsent.size() - m_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == ENOTCONN)) return;
    if (written < 0) {
      m_error = errno;
      break;
    }
    m_sent += static_cast<std::size_t>(written);
  }
  m_unsent.clear();
  m_sent = 0;
}

short control_channel::poll_events() const noexcept { return static_cast<short>(has_unsent() ? POLLIN | POLLOUT : POLLIN); }

arrival control_channel::receive(std::size_t largest_body) {
  if (m_is_whole) m_received = 0;
  m_is_whole = false;
  if (m_received < sizeof m_header) {
    const arrival head = fill(reinterpret_cast<std::byte*>(&m_header) + m_received, sizeof m_header - m_received);
    if (head != arrival::frame) return head;
    if ((static_cast<std::uint32_t>(m_header.kind) >> 16) != (static_cast<std::uint32_t>(frame_kind::message) >> 16) ||
        m_header.body_bytes > largest_body)
      return arrival::broken;
    m_body.resize(padded(m_header.body_bytes));
  }
  const std::size_t body_received = m_received - sizeof m_header;
  const arrival rest = fill(m_body.data() + body_received, m_body.size() - body_received);
  m_is_whole = rest == arrival::frame;
  return rest;
}

// `frame`: all wanted bytes are there.
arrival control_channel::fill(std::byte* target, std::size_t wanted) noexcept {
  while (wanted > 0) {
    const ssize_t received = recv(m_socket.get(), target, wanted, MSG_DONTWAIT);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return arrival::none;
    if (received < 0) m_error = errno;
    if (received <= 0) return arrival::closed;
    target += received;
    wanted -= static_cast<std::size_t>(received);
    m_received += static_cast<std::size_t>(received);
  }
  return arrival::frame;
}

std::span<const std::byte> control_channel::body() const noexcept { return {m_body.data(), m_header.body_bytes}; }

}  // namespace trimtab::parcels::tcp
