#include "transport/tcp_guest.hpp"

namespace trimtab::parcels::tcp {

guest_state guest::advance(const identity& self) {
  while (is_unproven()) {
    const arrival outcome = m_channel.receive(sizeof(proof_body));
    if (outcome == arrival::none) break;
    m_state = outcome == arrival::frame ? take_frame(self) : guest_state::stranger;
  }
  return m_state;
}

guest_state guest::take_frame(const identity& self) {
  if (m_state == guest_state::silent && m_channel.kind() == frame_kind::hello) return take_hello();
  if (m_state == guest_state::greeted && m_channel.kind() == frame_kind::proof) return take_proof(self);
  return guest_state::stranger;
}

guest_state guest::take_hello() {
  hello_body hello;
  if (!m_channel.get(hello)) return guest_state::stranger;
  if (hello.version != protocol_version) {
    refuse(refusal_reason::version, protocol_version);
    return guest_state::stranger;
  }
  challenge_body challenge;
  if (!draw(challenge.drawn)) return guest_state::stranger;
  m_nonces = {hello.drawn, challenge.drawn};
  m_channel.send(frame_kind::challenge, bytes_of(challenge));
  return guest_state::greeted;
}

guest_state guest::take_proof(const identity& self) {
  proof_body proof;
  if (!m_channel.get(proof)) return guest_state::stranger;
  if (!is_same_code(proof.code, caller_code(self.key, m_nonces, proof.claim))) {
    refuse(refusal_reason::secret, 0);
    return guest_state::wrong_secret;
  }
  m_claim = proof.claim;
  return check_claim(self);
}

guest_state guest::check_claim(const identity& self) {
  const std::string name = "locality " + std::to_string(m_claim.number) + " (" + process_text(m_claim) + ")";
  if (m_claim.job_size != self.job_size)
    return contradict(refusal_reason::job_size, self.job_size,
                      name + " says that the size of the job is " + std::to_string(m_claim.job_size) + ", expected " +
                          std::to_string(self.job_size));
  if (m_claim.largest_message != self.largest_message)
    return contradict(refusal_reason::largest_message, self.largest_message,
                      name + " has messages of up to " + std::to_string(m_claim.largest_message) + " bytes, expected " +
                          std::to_string(self.largest_message));
  // The one with the higher number calls.
  const purpose expected_reason = self.number == 0 ? purpose::join : purpose::link;
  if (m_claim.acceptor != self.number || m_claim.reason != expected_reason || m_claim.number <= self.number ||
      m_claim.number >= self.job_size)
    return contradict(
        refusal_reason::locality, self.number,
        name + " called locality " + std::to_string(self.number) + " as locality " + std::to_string(m_claim.acceptor));
  return guest_state::proven;
}

guest_state guest::contradict(refusal_reason reason, std::uint64_t expected, const std::string& conflict) {
  m_conflict = conflict;
  refuse(reason, expected);
  return guest_state::conflicting;
}

void guest::welcome(const identity& self) {
  m_channel.send(frame_kind::welcome, bytes_of(welcome_body{acceptor_code(self.key, m_nonces, m_claim)}));
}

void guest::refuse(refusal_reason reason, std::uint64_t expected) {
  m_channel.send(frame_kind::refusal, bytes_of(refusal_body{reason, 0, expected}));
}

}  // namespace trimtab::parcels::tcp
