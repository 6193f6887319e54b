#include "transport/tcp_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace trimtab::parcels::tcp {

namespace {

constexpr int socket_kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

// An idle connection is probed after 10 s, every 5 s, and fails after 4 probes without an answer: a vanished host is noticed
// within half a minute, and a network that is rebooted in less than 20 s does no harm.
constexpr int probe_after_s = 10;
constexpr int probe_every_s = 5;
constexpr int failed_probes = 4;
// While data is on its way nothing is probed, and the kernel by itself gives up after a quarter of an hour. TCP_USER_TIMEOUT
// is no remedy: it also ends the connection of a process that is alive and does not read (under a debugger, in a long
// computation), whose kernel still answers.
constexpr std::uint32_t longest_silence_ms = 60'000;
// A host that answers acknowledges the first or second repetition.
constexpr unsigned enough_repetitions = 3;

const sockaddr_in& as_ipv4(const socket_address& address) noexcept {
  return *reinterpret_cast<const sockaddr_in*>(&address.storage);
}
const sockaddr_in6& as_ipv6(const socket_address& address) noexcept {
  return *reinterpret_cast<const sockaddr_in6*>(&address.storage);
}
sockaddr_in& as_ipv4(socket_address& address) noexcept { return *reinterpret_cast<sockaddr_in*>(&address.storage); }
sockaddr_in6& as_ipv6(socket_address& address) noexcept { return *reinterpret_cast<sockaddr_in6*>(&address.storage); }

void set_option(int socket, int level, int name, int value) noexcept {
  setsockopt(socket, level, name, &value, sizeof value);
}

// Not only when the bytes before them are acknowledged, which takes up to 40 ms.
void send_at_once(int socket) noexcept { set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

tcp_info info_of(int socket) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) info.tcpi_state = TCP_CLOSE;
  return info;
}

std::string cannot_listen(const socket_address& address) {
  return "cannot listen at " + address.text() + ": " + error_text(errno);
}

}  // namespace

descriptor::~descriptor() {
  if (m_number >= 0) ::close(m_number);
}

bool socket_address::is_wildcard() const noexcept {
  if (storage.ss_family == AF_INET) return as_ipv4(*this).sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&as_ipv6(*this).sin6_addr);
}

std::uint16_t socket_address::port() const noexcept {
  return ntohs(storage.ss_family == AF_INET ? as_ipv4(*this).sin_port : as_ipv6(*this).sin6_port);
}

void socket_address::set_port(std::uint16_t port) noexcept {
  (storage.ss_family == AF_INET ? as_ipv4(*this).sin_port : as_ipv6(*this).sin6_port) = htons(port);
}

std::string socket_address::text() const {
  char digits[INET6_ADDRSTRLEN] = "?";
  const bool is_ipv4 = storage.ss_family == AF_INET;
  const void* bytes = is_ipv4 ? static_cast<const void*>(&as_ipv4(*this).sin_addr) : &as_ipv6(*this).sin6_addr;
  inet_ntop(storage.ss_family, bytes, digits, sizeof digits);
  const std::string host = is_ipv4 ? std::string(digits) : std::string("[").append(digits).append("]");
  return host + ":" + std::to_string(port());
}

socket_address parse_address(const std::string& text, std::uint16_t port) noexcept {
  socket_address address;
  if (inet_pton(AF_INET, text.c_str(), &as_ipv4(address).sin_addr) == 1) {
    address.storage.ss_family = AF_INET;
    address.length = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, text.c_str(), &as_ipv6(address).sin6_addr) == 1) {
    address.storage.ss_family = AF_INET6;
    address.length = sizeof(sockaddr_in6);
  } else {
    return {};
  }
  address.set_port(port);
  return address;
}

socket_address local_address(int socket) noexcept {
  socket_address address;
  address.length = sizeof address.storage;
  if (getsockname(socket, address.get(), &address.length) != 0) address.length = 0;
  return address;
}

socket_address remote_address(int socket) noexcept {
  socket_address address;
  address.length = sizeof address.storage;
  if (getpeername(socket, address.get(), &address.length) != 0) address.length = 0;
  return address;
}

opened_listener listen_at(const socket_address& address) {
  descriptor opened(socket(address.storage.ss_family, socket_kind, 0));
  if (!opened.is_open()) return {{}, cannot_listen(address)};
  // Connections of a job that has ended keep the port for a minute; only a listener makes it taken.
  set_option(opened.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(opened.get(), address.get(), address.length) != 0 || listen(opened.get(), SOMAXCONN) != 0)
    return {{}, cannot_listen(address)};
  return {std::move(opened), {}};
}

opened_listener adopt_listener(descriptor socket) {
  const int number = socket.get();
  // If it listens already, this only gives its queue another length.
  if (listen(number, SOMAXCONN) != 0)
    return {{}, "cannot listen at the meeting socket (descriptor " + std::to_string(number) + "): " + error_text(errno)};
  fcntl(number, F_SETFD, FD_CLOEXEC);
  fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK);
  return {std::move(socket), {}};
}

descriptor start_connecting(const socket_address& address) noexcept {
  descriptor opened(socket(address.storage.ss_family, socket_kind, 0));
  if (opened.is_open()) send_at_once(opened.get());
  if (!opened.is_open() || connect(opened.get(), address.get(), address.length) == 0 || errno == EINPROGRESS) return opened;
  const int error = errno;  // close() may change it
  opened.close();
  errno = error;
  return opened;
}

int take_error(int socket) noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

descriptor accept_from(int listener) noexcept {
  descriptor accepted(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (accepted.is_open()) send_at_once(accepted.get());
  return accepted;
}

void watch_host(int socket) noexcept {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, probe_after_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, probe_every_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, failed_probes);
}

bool has_vanished(int socket) noexcept {
  const tcp_info info = info_of(socket);
  const bool is_repeating = info.tcpi_retransmits >= enough_repetitions || info.tcpi_probes >= enough_repetitions;
  return is_repeating && info.tcpi_last_ack_recv > longest_silence_ms;
}

bool is_end_acknowledged(int socket) noexcept {
  const unsigned state = info_of(socket).tcpi_state;
  return state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT || state == TCP_CLOSE;
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace trimtab::parcels::tcp
