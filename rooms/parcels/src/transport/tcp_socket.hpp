// Sockets and numeric addresses. All sockets are non-blocking and closed on exec, and small messages go at once.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>

namespace trimtab::parcels::tcp {

// A file descriptor, closed with its owner; -1: none.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int number) noexcept : m_number(number) {}
  descriptor(descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(m_number, other.m_number);
    return *this;
  }
  ~descriptor();

  int get() const noexcept { return m_number; }
  bool is_open() const noexcept { return m_number >= 0; }
  void close() noexcept { *this = descriptor(); }

 private:
  int m_number = -1;
};

struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  bool is_valid() const noexcept { return length != 0; }
  bool is_wildcard() const noexcept;  // of a listener that takes connections at all addresses of the host
  std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  std::string text() const;  // "127.0.0.1:4000", "[::1]:4000"
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

// IPv4 or IPv6 in digits; not valid: it is neither.
socket_address parse_address(const std::string& text, std::uint16_t port) noexcept;
socket_address local_address(int socket) noexcept;
socket_address remote_address(int socket) noexcept;

// A listening socket, or why there is none.
struct opened_listener {
  descriptor socket;
  std::string error;
};
opened_listener listen_at(const socket_address& address);
// Of a socket that the launcher has bound to an address.
opened_listener adopt_listener(descriptor socket);

// A socket that begins to connect; not open: errno says why. poll() reports that it can be written when it is connected or
// has failed.
descriptor start_connecting(const socket_address& address) noexcept;
// 0, or the errno of a connection that failed.
int take_error(int socket) noexcept;
// The next connection; not open: there is none now.
descriptor accept_from(int listener) noexcept;

// From now on the kernel probes a host that is silent, and ends the connection if it has vanished.
void watch_host(int socket) noexcept;
// The host has not acknowledged what was sent to it for so long that it must have vanished.
bool has_vanished(int socket) noexcept;
// All that was written, the end included, has arrived at the other host, or never will.
bool is_end_acknowledged(int socket) noexcept;

std::string error_text(int error);

}  // namespace trimtab::parcels::tcp
