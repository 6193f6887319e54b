#include "transport/tcp_call.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace trimtab::parcels::tcp {

namespace {

// The other side is there within milliseconds if it was started at the same time, and within seconds otherwise.
constexpr std::uint64_t first_pause_ns = 2'000'000;
constexpr std::uint64_t longest_pause_ns = 100'000'000;

std::string refusal_text(const refusal_body& refusal, const identity& self) {
  const std::string expected = std::to_string(refusal.expected);
  switch (refusal.reason) {
    case refusal_reason::version:
      return "it has another version of Trimtab";
    case refusal_reason::secret:
      return "this process has another secret of the job";
    case refusal_reason::locality:
      return "it is not that locality, or does not expect locality " + std::to_string(self.number);
    case refusal_reason::job_size:
      return "the size of its job is " + expected + ", that of this process is " + std::to_string(self.job_size);
    case refusal_reason::number:
      return "process " + expected + " is locality " + std::to_string(self.number) + " already";
    case refusal_reason::largest_message:
      return "its messages have up to " + expected + " bytes, those of this process " + std::to_string(self.largest_message);
  }
  return "for an unknown reason (" + std::to_string(static_cast<std::uint32_t>(refusal.reason)) + ")";
}

}  // namespace

call_state call::advance(const identity& self, std::uint64_t now_ns) {
  if (m_state == call_state::pausing && now_ns >= m_retry_ns) connect(self, now_ns);
  if (m_state == call_state::connecting) finish_connecting(now_ns);
  if (m_state == call_state::greeting || m_state == call_state::proving) read(self, now_ns);
  return m_state;
}

short call::poll_events() const noexcept {
  return m_state == call_state::connecting ? static_cast<short>(POLLOUT) : m_channel.poll_events();
}

std::string call::failure() const {
  const std::string name = "locality " + std::to_string(m_target.number) + " at " + m_target.address.text();
  if (m_state == call_state::refused) return name + " turned this process away: " + m_problem;
  const std::string problem = m_problem.empty() ? "it does not answer" : m_problem;
  return name + " cannot be reached: " + problem;
}

void call::connect(const identity& self, std::uint64_t now_ns) {
  descriptor socket = start_connecting(m_target.address);
  if (!socket.is_open()) return pause(now_ns, error_text(errno));
  m_channel = control_channel(std::move(socket));
  m_state = call_state::connecting;
  m_claim = self.claim;
  m_claim.acceptor = m_target.number;
  m_claim.reason = m_target.reason;
}

void call::finish_connecting(std::uint64_t now_ns) {
  pollfd connected{m_channel.socket(), POLLOUT, 0};
  if (poll(&connected, 1, 0) <= 0) return;
  if (const int error = take_error(m_channel.socket()); error != 0) return pause(now_ns, error_text(error));
  // Where nobody listens, TCP may connect a socket with itself, and it would occupy the port of the one who is to come.
  if (local_address(m_channel.socket()).text() == remote_address(m_channel.socket()).text())
    return pause(now_ns, error_text(ECONNREFUSED));
  greet(now_ns);
}

void call::greet(std::uint64_t now_ns) {
  hello_body hello{protocol_version, {}};
  if (!draw(hello.drawn)) return pause(now_ns, "the kernel has no random bytes");
  m_nonces.caller = hello.drawn;
  m_state = call_state::greeting;
  m_channel.send(frame_kind::hello, bytes_of(hello));
}

void call::read(const identity& self, std::uint64_t now_ns) {
  while (m_state == call_state::greeting || m_state == call_state::proving) {
    switch (m_channel.receive(sizeof(challenge_body))) {
      case arrival::none:
        return m_channel.flush();
      case arrival::frame:
        take_frame(self, now_ns);
        break;
      case arrival::closed:
        return pause(now_ns, m_channel.error());
      case arrival::broken:
        return pause(now_ns, "another program answers there");
    }
  }
}

void call::take_frame(const identity& self, std::uint64_t now_ns) {
  challenge_body challenge;
  if (m_channel.kind() == frame_kind::refusal) {
    take_refusal(self, now_ns);
  } else if (m_state == call_state::greeting && m_channel.kind() == frame_kind::challenge && m_channel.get(challenge)) {
    m_nonces.acceptor = challenge.drawn;
    prove(self, now_ns);
  } else if (m_state == call_state::proving && is_welcome(self)) {
    m_state = call_state::proven;
  } else {
    pause(now_ns, "another program answers there, or it has another secret of the job");
  }
}

void call::prove(const identity& self, std::uint64_t now_ns) {
  m_claim.patience_ns = m_deadline_ns > now_ns ? m_deadline_ns - now_ns : 0;
  m_state = call_state::proving;
  m_channel.send(frame_kind::proof, bytes_of(proof_body{m_claim, caller_code(self.key, m_nonces, m_claim)}));
}

bool call::is_welcome(const identity& self) const noexcept {
  welcome_body welcome;
  return m_channel.kind() == frame_kind::welcome && m_channel.get(welcome) &&
         is_same_code(welcome.code, acceptor_code(self.key, m_nonces, m_claim));
}

void call::take_refusal(const identity& self, std::uint64_t now_ns) {
  refusal_body refusal;
  if (!m_channel.get(refusal)) return pause(now_ns, "another program answers there");
  m_problem = refusal_text(refusal, self);
  m_state = call_state::refused;
  m_channel.close();
}

void call::pause(std::uint64_t now_ns, std::string problem) {
  m_channel.close();
  m_problem = std::move(problem);
  m_pause_ns = std::clamp(2 * m_pause_ns, first_pause_ns, longest_pause_ns);
  m_retry_ns = now_ns + m_pause_ns;
  m_state = call_state::pausing;
}

}  // namespace trimtab::parcels::tcp
