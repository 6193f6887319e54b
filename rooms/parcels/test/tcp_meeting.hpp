// A meeting point over TCP for tests: a socket that is bound before the members are, as a launcher would do it.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "transport/tcp_socket.hpp"
#include "transport_contract.hpp"
#include "trimtab/parcels/transport/tcp_transport.hpp"

namespace trimtab::parcels {

class tcp_meeting final : public meeting_point {
 public:
  explicit tcp_meeting(const tcp_options& options = {}) : m_options(options) {
    tcp::opened_listener opened = tcp::listen_at(tcp::parse_address(options.meeting_address, 0));
    EXPECT_EQ(opened.error, "");
    m_socket = std::move(opened.socket);
    m_options.meeting_port = tcp::local_address(m_socket.get()).port();
  }

  opened_transport open(const membership& self) override {
    tcp_options options = m_options;
    if (self.number == 0) options.meeting_socket = dup(m_socket.get());
    return open_tcp(self, options);
  }
  tcp::socket_address address() const { return tcp::parse_address(m_options.meeting_address, m_options.meeting_port); }
  const tcp_options& options() const { return m_options; }

 private:
  tcp_options m_options;
  tcp::descriptor m_socket;
};

}  // namespace trimtab::parcels
