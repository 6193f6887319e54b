#include "transport/tcp_reception.hpp"

#include <algorithm>
#include <cerrno>

namespace trimtab::parcels::tcp {

namespace {

// A member answers within milliseconds, or when it gets a CPU again.
constexpr std::uint64_t guest_patience_ns = 5'000'000'000;
// Then guests are looked after, before more are accepted.
constexpr int most_accepted_at_once = 64;

}  // namespace

void reception::add_to(poll_set& set) const {
  if (m_listener.is_open()) set.add(m_listener.get(), POLLIN);
  for (const guest& visitor : m_guests) set.add(visitor.channel().socket(), visitor.channel().poll_events());
}

std::uint64_t reception::next_deadline_ns() const noexcept {
  return m_guests.empty() ? ~std::uint64_t{0} : m_guests.front().deadline_ns();
}

void reception::advance(std::uint64_t now_ns, const guest_handler& handler) {
  m_guests.remove_if([&](guest& visitor) { return !advance_guest(visitor, now_ns, handler); });
  if (m_listener.is_open()) accept_waiting(now_ns, handler);
}

void reception::accept_waiting(std::uint64_t now_ns, const guest_handler& handler) {
  for (int i = 0; i < most_accepted_at_once; ++i) {
    descriptor accepted = accept_from(m_listener.get());
    if (!accepted.is_open()) return note_error(errno);
    if (m_guests.size() == most_guests) make_room();
    m_guests.emplace_back(std::move(accepted), now_ns + guest_patience_ns);
    if (!advance_guest(m_guests.back(), now_ns, handler)) m_guests.pop_back();
  }
}

// A connection that has ended in the queue is no reason to stop; without descriptors or memory no member can come any more.
void reception::note_error(int error) noexcept {
  if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) m_error = error;
}

// Who has said nothing goes first.
void reception::make_room() {
  const auto is_silent = [](const guest& visitor) { return visitor.state() == guest_state::silent; };
  const auto silent = std::find_if(m_guests.begin(), m_guests.end(), is_silent);
  m_guests.erase(silent == m_guests.end() ? m_guests.begin() : silent);
  ++m_strangers;
}

bool reception::advance_guest(guest& visitor, std::uint64_t now_ns, const guest_handler& handler) {
  switch (visitor.advance(m_self)) {
    case guest_state::silent:
    case guest_state::greeted:
      if (now_ns < visitor.deadline_ns()) return true;
      ++m_strangers;
      return false;
    case guest_state::proven:
    case guest_state::conflicting:
      handler(visitor);
      return false;
    case guest_state::wrong_secret:
      ++m_wrong_secrets;
      return false;
    case guest_state::stranger:
      ++m_strangers;
      return false;
  }
  return false;
}

std::string reception::report() const {
  std::string text;
  if (m_wrong_secrets != 0)
    text += "; connections turned away because of another secret: " + std::to_string(m_wrong_secrets);
  if (m_strangers != 0)
    text += "; connections turned away because of another protocol or silence: " + std::to_string(m_strangers);
  return text;
}

}  // namespace trimtab::parcels::tcp
