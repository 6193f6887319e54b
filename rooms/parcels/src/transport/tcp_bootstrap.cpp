#include "transport/tcp_bootstrap.hpp"

#include <algorithm>
#include <cstring>

#include "trimtab/base/clock.hpp"

namespace trimtab::parcels::tcp {

namespace {

// Locality 0 knows best why the job does not start, so others wait a little longer for its word: it for those who have not
// linked, these for it.
constexpr std::uint64_t grace_of_first_ns = 1'000'000'000;
constexpr std::uint64_t grace_of_others_ns = 2'000'000'000;

// A day: sums of it do not overflow.
constexpr std::uint64_t longest_patience_ns = 86'400'000'000'000;

constexpr std::size_t longest_failure = 1024;

bool has_joined(const member& other) { return other.has_claim; }
bool has_link(const member& other) { return other.channel.is_open(); }
bool has_said_ready(const member& other) { return other.is_ready; }

std::string list_of(const std::vector<locality_number>& numbers) {
  constexpr std::size_t most_named = 8;
  std::string text = numbers.size() == 1 ? "locality " : "localities ";
  for (std::size_t i = 0; i < std::min(numbers.size(), most_named); ++i) {
    if (i != 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  if (numbers.size() > most_named) text += " and " + std::to_string(numbers.size() - most_named) + " others";
  return text;
}

}  // namespace

bootstrap::bootstrap(const membership& self, const tcp_options& options, descriptor meeting_socket)
    : m_options(options),
      m_begin_ns(base::monotonic_ns()),
      m_deadline_ns(m_begin_ns + std::min(self.patience_ns, longest_patience_ns)),
      m_self(describe_self(self, options.largest_message)),
      m_reception(m_self),
      m_members(self.size),
      m_meeting_socket(std::move(meeting_socket)) {}

std::string bootstrap::run() {
  if (m_members.size() > 1) m_error = open_listener();
  if (!m_error.empty()) return m_error;
  m_members[m_self.number].claim = m_self.claim;
  m_members[m_self.number].has_claim = true;
  if (m_members.size() == 1) return {};
  if (!is_first())
    m_calls.emplace_back(call_target{0, purpose::join, parse_address(m_options.meeting_address, m_options.meeting_port)},
                         m_deadline_ns);
  while (m_error.empty() && m_phase != phase::started) step();
  return m_error;
}

std::string bootstrap::open_listener() {
  opened_listener opened;
  if (is_first() && m_meeting_socket.is_open())
    opened = adopt_listener(std::move(m_meeting_socket));
  else
    opened = listen_at(is_first() ? parse_address(m_options.meeting_address, m_options.meeting_port)
                                  : parse_address(m_options.listen_address, 0));
  if (opened.error.empty()) {
    set_listener(m_self.claim, local_address(opened.socket.get()));
    m_reception.open(std::move(opened.socket));
  }
  return opened.error;
}

void bootstrap::step() {
  wait(base::monotonic_ns());
  const std::uint64_t now_ns = base::monotonic_ns();
  m_reception.advance(now_ns, [&](guest& visitor) { take_guest(visitor, now_ns); });
  if (m_reception.error() != 0 && m_error.empty()) fail("cannot accept connections: " + error_text(m_reception.error()));
  advance_calls(now_ns);
  read_members();
  if (m_error.empty()) advance_phase();
  if (m_error.empty() && m_phase != phase::started && now_ns >= current_deadline_ns()) fail_for_time();
}

std::uint64_t bootstrap::current_deadline_ns() const noexcept {
  if (is_first()) return m_phase == phase::gathering ? m_deadline_ns : m_deadline_ns + grace_of_first_ns;
  // Without locality 0 there is nobody to wait for, and what is not linked is known here.
  const bool is_own_matter = !m_members[0].channel.is_open() || m_phase == phase::linking;
  return is_own_matter ? m_deadline_ns : m_deadline_ns + grace_of_others_ns;
}

void bootstrap::wait(std::uint64_t now_ns) {
  m_polled.clear();
  m_reception.add_to(m_polled);
  std::uint64_t until_ns = std::min(current_deadline_ns(), m_reception.next_deadline_ns());
  for (const call& outgoing : m_calls) {
    if (outgoing.state() == call_state::pausing)
      until_ns = std::min(until_ns, outgoing.retry_ns());
    else
      m_polled.add(outgoing.channel().socket(), outgoing.poll_events());
  }
  const std::size_t read_channels = is_first() ? m_members.size() : 1;
  for (std::size_t i = 0; i < read_channels; ++i)
    if (const control_channel& channel = m_members[i].channel; channel.is_open())
      m_polled.add(channel.socket(), channel.poll_events());
  m_polled.wait(now_ns, until_ns);
}

void bootstrap::take_guest(guest& visitor, std::uint64_t now_ns) {
  if (!m_error.empty()) return;
  if (visitor.state() == guest_state::conflicting) return fail(visitor.conflict());
  const member& earlier = m_members[visitor.claim().number];
  const bool is_duplicate = is_first() ? earlier.has_claim : earlier.channel.is_open();
  if (!is_duplicate) return take_member(visitor, now_ns);
  visitor.refuse(refusal_reason::number, static_cast<std::uint64_t>(earlier.claim.process));
  fail("two processes are locality " + std::to_string(visitor.claim().number) + ": " + process_text(earlier.claim) +
       " and " + process_text(visitor.claim()));
}

void bootstrap::take_member(guest& visitor, std::uint64_t now_ns) {
  visitor.welcome(m_self);
  member& other = m_members[visitor.claim().number];
  other.channel = std::move(visitor.channel());
  other.claim = visitor.claim();
  other.has_claim = true;
  if (!is_first()) return;
  m_deadline_ns = std::min(m_deadline_ns, now_ns + other.claim.patience_ns);
  // One that listens at all addresses of its host can be reached at the one that it has called from.
  socket_address listener = listener_of(other.claim);
  if (!listener.is_wildcard()) return;
  listener = remote_address(other.channel.socket());
  listener.set_port(other.claim.port);
  set_listener(other.claim, listener);
}

void bootstrap::advance_calls(std::uint64_t now_ns) {
  for (call& outgoing : m_calls) {
    if (!m_error.empty()) return;
    const call_state state = outgoing.advance(m_self, now_ns);
    if (state == call_state::proven) finish_call(outgoing);
    if (state == call_state::refused) fail(outgoing.failure());
  }
  m_calls.remove_if([](const call& outgoing) { return outgoing.state() == call_state::proven; });
}

void bootstrap::finish_call(call& outgoing) { m_members[outgoing.target().number].channel = std::move(outgoing.channel()); }

// Links carry nothing before the start, and what comes on them first may already be a message. So only connections with
// locality 0 are read, and these only until `start`.
void bootstrap::read_members() {
  if (!is_first()) return read_member(0);
  for (locality_number number = 1; number < m_members.size(); ++number) read_member(number);
}

void bootstrap::read_member(locality_number number) {
  control_channel& channel = m_members[number].channel;
  const std::size_t largest_body = std::max(m_members.size() * sizeof(member_claim), longest_failure);
  const phase last = is_first() ? phase::linking : phase::starting;
  while (m_error.empty() && channel.is_open() && m_phase <= last) {
    channel.flush();
    const arrival outcome = channel.receive(largest_body);
    if (outcome == arrival::none) return;
    if (outcome == arrival::frame)
      take_frame(number);
    else
      fail("locality " + std::to_string(number) + " was lost before the job started: " +
           (outcome == arrival::closed ? channel.error() : "it sent bytes that are no frame"));
  }
}

void bootstrap::take_frame(locality_number number) {
  const control_channel& channel = m_members[number].channel;
  if (channel.kind() == frame_kind::failure) {
    const std::span<const std::byte> text = channel.body();
    fail("locality " + std::to_string(number) +
         " gave up: " + printable({reinterpret_cast<const char*>(text.data()), text.size()}));
  } else if (is_first() && channel.kind() == frame_kind::ready && m_phase == phase::linking) {
    m_members[number].is_ready = true;
  } else if (!is_first() && channel.kind() == frame_kind::members && m_phase == phase::gathering) {
    take_members(channel);
  } else if (!is_first() && channel.kind() == frame_kind::start && m_phase == phase::starting) {
    m_phase = phase::started;
  } else {
    fail("locality " + std::to_string(number) + " sent a frame that is not expected now");
  }
}

void bootstrap::take_members(const control_channel& channel) {
  if (channel.body().size() != m_members.size() * sizeof(member_claim))
    return fail("locality 0 sent a list of another size");
  for (locality_number number = 0; number < m_members.size(); ++number) {
    member_claim& claim = m_members[number].claim;
    std::memcpy(&claim, channel.body().data() + number * sizeof claim, sizeof claim);
    if (claim.number != number) return fail("locality 0 sent a list in another order");
    m_members[number].has_claim = true;
  }
  m_phase = phase::linking;
  call_lower();
}

void bootstrap::call_lower() {
  for (locality_number number = 1; number < m_self.number; ++number)
    m_calls.emplace_back(call_target{number, purpose::link, listener_of(m_members[number].claim)}, m_deadline_ns);
}

bool bootstrap::is_everybody(bool (*condition)(const member&)) const {
  for (locality_number number = 0; number < m_members.size(); ++number)
    if (number != m_self.number && !condition(m_members[number])) return false;
  return true;
}

void bootstrap::advance_phase() {
  if (is_first() && m_phase == phase::gathering && is_everybody(has_joined)) enter_linking();
  if (is_first() && m_phase == phase::linking && is_everybody(has_said_ready)) {
    m_phase = phase::starting;
    tell_all(frame_kind::start, {});
  }
  if (is_first() && m_phase == phase::starting && !has_unsent()) m_phase = phase::started;
  if (!is_first() && m_phase == phase::linking && is_everybody(has_link)) {
    m_phase = phase::starting;
    m_members[0].channel.send(frame_kind::ready, {});
  }
}

void bootstrap::enter_linking() {
  m_phase = phase::linking;
  std::vector<std::byte> claims;
  for (const member& other : m_members) {
    const std::span<const std::byte> claim = bytes_of(other.claim);
    claims.insert(claims.end(), claim.begin(), claim.end());
  }
  tell_all(frame_kind::members, claims);
}

void bootstrap::tell_all(frame_kind kind, std::span<const std::byte> body) {
  for (member& other : m_members)
    if (other.channel.is_open()) other.channel.send(kind, body);
}

bool bootstrap::has_unsent() const {
  return std::any_of(m_members.begin(), m_members.end(), [](const member& other) { return other.channel.has_unsent(); });
}

// Locality 0 tells all, the others tell locality 0.
void bootstrap::fail(std::string reason) {
  m_error = std::move(reason);
  const std::string_view text = std::string_view(m_error).substr(0, longest_failure);
  const std::span<const std::byte> body = std::as_bytes(std::span(text));
  if (is_first()) return tell_all(frame_kind::failure, body);
  if (m_members[0].channel.is_open()) m_members[0].channel.send(frame_kind::failure, body);
}

void bootstrap::fail_for_time() {
  if (is_first() && m_phase == phase::gathering)
    return fail(missing_text(has_joined) + " did not come within " + patience_text() + m_reception.report());
  if (is_first()) return fail(missing_text(has_said_ready) + " did not connect with all others within " + patience_text());
  if (!m_members[0].channel.is_open())
    return fail("locality 0 did not come within " + patience_text() + ": " + m_calls.front().failure());
  if (m_phase == phase::linking) return fail(unlinked_text() + m_reception.report());
  fail("locality 0 is there, but has not said within " + patience_text() + " that the job starts");
}

std::string bootstrap::patience_text() const { return duration_text(m_deadline_ns - m_begin_ns); }

std::string bootstrap::missing_text(bool (*condition)(const member&)) const {
  std::vector<locality_number> missing;
  for (locality_number number = 0; number < m_members.size(); ++number)
    if (number != m_self.number && !condition(m_members[number])) missing.push_back(number);
  return list_of(missing);
}

std::string bootstrap::unlinked_text() const {
  if (!m_calls.empty()) return m_calls.front().failure();
  return missing_text(has_link) + " did not connect with locality " + std::to_string(m_self.number) + " within " +
         patience_text();
}

}  // namespace trimtab::parcels::tcp
