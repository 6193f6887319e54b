// A connection that came in and has to prove that it belongs to the job. Never blocks. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "transport/tcp_admission.hpp"
#include "transport/tcp_control_channel.hpp"
#include "transport/tcp_identity.hpp"

namespace trimtab::parcels::tcp {

enum class guest_state : std::uint8_t {
  silent,        // nothing whole has come from it
  greeted,       // it speaks the protocol
  proven,        // it knows the secret and its claim fits: welcome() or refuse() comes next
  conflicting,   // it knows the secret, but what it says cannot be: see conflict()
  wrong_secret,  // turned away
  stranger,      // turned away, or gone: it does not speak the protocol
};

class guest {
 public:
  guest(descriptor socket, std::uint64_t deadline_ns) noexcept : m_channel(std::move(socket)), m_deadline_ns(deadline_ns) {}

  // Reads what has come, and answers.
  guest_state advance(const identity& self);
  guest_state state() const noexcept { return m_state; }
  bool is_unproven() const noexcept { return m_state == guest_state::silent || m_state == guest_state::greeted; }
  std::uint64_t deadline_ns() const noexcept { return m_deadline_ns; }

  const member_claim& claim() const noexcept { return m_claim; }
  const std::string& conflict() const noexcept { return m_conflict; }  // a whole sentence

  void welcome(const identity& self);
  void refuse(refusal_reason reason, std::uint64_t expected);

  control_channel& channel() noexcept { return m_channel; }
  const control_channel& channel() const noexcept { return m_channel; }

 private:
  guest_state take_frame(const identity& self);
  guest_state take_hello();
  guest_state take_proof(const identity& self);
  guest_state check_claim(const identity& self);
  guest_state contradict(refusal_reason reason, std::uint64_t expected, const std::string& conflict);

  control_channel m_channel;
  std::uint64_t m_deadline_ns;  // of CLOCK_MONOTONIC
  guest_state m_state = guest_state::silent;
  drawn_nonces m_nonces{};
  member_claim m_claim{};
  std::string m_conflict;
};

}  // namespace trimtab::parcels::tcp
