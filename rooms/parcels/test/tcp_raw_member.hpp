// Those who speak TCP with a member by hand: strangers, and a member that has come in properly and then misbehaves.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string_view>
#include <vector>

#include "tcp_meeting.hpp"
#include "transport/tcp_admission.hpp"
#include "transport/tcp_bootstrap.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {

// A connected socket; the rest of it is non-blocking.
inline tcp::descriptor connect_to(const tcp::socket_address& address) {
  tcp::descriptor socket = tcp::start_connecting(address);
  pollfd connected{socket.get(), POLLOUT, 0};
  poll(&connected, 1, -1);
  EXPECT_EQ(tcp::take_error(socket.get()), 0);
  return socket;
}

inline void send_text(const tcp::descriptor& socket, std::string_view text) {
  EXPECT_EQ(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

// Waits for a frame, or that the other side closes.
inline tcp::arrival await_frame(tcp::control_channel& channel) {
  for (const test_deadline deadline; !deadline.is_over();) {
    const tcp::arrival outcome = channel.receive(std::size_t{1} << 16);
    if (outcome != tcp::arrival::none) return outcome;
    pollfd readable{channel.socket(), POLLIN, 0};
    poll(&readable, 1, 100);
  }
  ADD_FAILURE() << "no frame has come";
  return tcp::arrival::none;
}

// The caller's side of admission, step by step, as locality `number`.
class raw_caller {
 public:
  raw_caller(const tcp::socket_address& address, const membership& self, std::size_t largest_message)
      : m_self(tcp::describe_self(self, largest_message)), m_channel(connect_to(address)) {
    proof.claim = m_self.claim;
    proof.claim.reason = tcp::purpose::join;
    proof.claim.patience_ns = self.patience_ns;
    nonces.caller = {std::byte{1}, std::byte{2}};
  }

  // False: the other side has closed.
  bool greet() {
    m_channel.send(tcp::frame_kind::hello, tcp::bytes_of(tcp::hello_body{tcp::protocol_version, nonces.caller}));
    tcp::challenge_body challenge;
    if (await_frame(m_channel) != tcp::arrival::frame || m_channel.kind() != tcp::frame_kind::challenge ||
        !m_channel.get(challenge))
      return false;
    nonces.acceptor = challenge.drawn;
    return true;
  }
  void sign() { proof.code = tcp::caller_code(m_self.key, nonces, proof.claim); }
  // The kind of the answer.
  tcp::frame_kind send_proof() {
    m_channel.send(tcp::frame_kind::proof, tcp::bytes_of(proof));
    EXPECT_EQ(await_frame(m_channel), tcp::arrival::frame);
    return m_channel.kind();
  }
  tcp::refusal_reason reason() const {
    tcp::refusal_body refusal{};
    EXPECT_TRUE(m_channel.get(refusal));
    return refusal.reason;
  }
  tcp::control_channel& channel() { return m_channel; }
  const tcp::siphash_key& key() const { return m_self.key; }

  tcp::drawn_nonces nonces{};
  tcp::proof_body proof{};

 private:
  tcp::identity m_self;
  tcp::control_channel m_channel;
};

}  // namespace trimtab::parcels
