// A connection from this locality to another one. It is tried again and again, because the other one may not be there yet,
// until it is proven that both know the secret. Never blocks. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "transport/tcp_admission.hpp"
#include "transport/tcp_control_channel.hpp"
#include "transport/tcp_identity.hpp"

namespace trimtab::parcels::tcp {

enum class call_state : std::uint8_t {
  pausing,     // until retry_ns()
  connecting,  // the kernel does
  greeting,    // waits for a challenge
  proving,     // waits for a welcome
  proven,
  refused,  // the other one has said why, see failure(): to try again would not help
};

struct call_target {
  locality_number number;
  purpose reason;
  socket_address address;
};

class call {
 public:
  call(const call_target& target, std::uint64_t deadline_ns) noexcept : m_target(target), m_deadline_ns(deadline_ns) {}

  call_state advance(const identity& self, std::uint64_t now_ns);
  call_state state() const noexcept { return m_state; }
  std::uint64_t retry_ns() const noexcept { return m_retry_ns; }
  short poll_events() const noexcept;

  const call_target& target() const noexcept { return m_target; }
  // Why it is not proven: a whole sentence.
  std::string failure() const;
  control_channel& channel() noexcept { return m_channel; }
  const control_channel& channel() const noexcept { return m_channel; }

 private:
  void connect(const identity& self, std::uint64_t now_ns);
  void finish_connecting(std::uint64_t now_ns);
  void greet(std::uint64_t now_ns);
  void read(const identity& self, std::uint64_t now_ns);
  void take_frame(const identity& self, std::uint64_t now_ns);
  void prove(const identity& self, std::uint64_t now_ns);
  bool is_welcome(const identity& self) const noexcept;
  void take_refusal(const identity& self, std::uint64_t now_ns);
  void pause(std::uint64_t now_ns, std::string problem);

  call_target m_target;
  std::uint64_t m_deadline_ns;  // of the whole start, by CLOCK_MONOTONIC
  control_channel m_channel;
  call_state m_state = call_state::pausing;
  std::uint64_t m_retry_ns = 0;
  std::uint64_t m_pause_ns = 0;
  drawn_nonces m_nonces{};
  member_claim m_claim{};
  std::string m_problem;  // of the last attempt
};

}  // namespace trimtab::parcels::tcp
