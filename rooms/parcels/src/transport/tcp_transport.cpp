#include "trimtab/parcels/transport/tcp_transport.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <vector>

#include "transport/tcp_bootstrap.hpp"
#include "transport/tcp_peer.hpp"
#include "transport/tcp_wake_up.hpp"
#include "trimtab/base/clock.hpp"

namespace trimtab::parcels {

namespace {

// To ask the kernel whether something has come costs some 300 ns, and a message needs some 10 us from process to process. So
// a thread that calls receive() again and again asks only every microsecond.
constexpr std::uint64_t least_poll_interval_ns = 1'000;
constexpr std::uint64_t life_check_interval_ns = 5'000'000'000;
constexpr std::size_t events_per_poll = 64;

// leave() looks again after these: the kernel reports to nobody that the end of a connection was acknowledged.
constexpr std::uint64_t first_leave_pause_ns = 20'000;
constexpr std::uint64_t longest_leave_pause_ns = 1'000'000;

constexpr std::size_t least_largest_message = 4096;
constexpr std::size_t most_largest_message = std::size_t{1} << 30;
// Each takes a descriptor in all others.
constexpr std::uint32_t most_tcp_localities = 4096;

timespec as_timespec(std::uint64_t ns) noexcept {
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  return {static_cast<time_t>(ns / ns_per_s), static_cast<long>(ns % ns_per_s)};
}

class tcp_transport final : public transport {
 public:
  tcp_transport(const membership& self, const tcp_options& options)
      : m_number(self.number), m_options(options), m_hosts(self.size), m_processes(self.size), m_peers(self.size) {
    m_unfinished.reserve(self.size);
  }

  // Empty, or why it cannot work.
  std::string open();
  // The members, each of which has an open channel or is this locality itself.
  void adopt(std::vector<tcp::member>& members);

  locality_number number() const noexcept override { return m_number; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(m_peers.size()); }
  const char* name() const noexcept override { return "TCP"; }
  std::size_t largest_message() const noexcept override { return m_options.largest_message; }
  std::string_view host_of(locality_number other) const noexcept override { return m_hosts[other]; }
  std::int64_t process_of(locality_number other) const noexcept override { return m_processes[other]; }

  using transport::try_send;
  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override {
    return m_peers[to]->send(parts);
  }
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override;
  void wait(std::uint64_t ns) noexcept override;
  void wake() noexcept override { m_wake_up.ring(); }
  bool leave(std::uint64_t ns) noexcept override;

 private:
  std::size_t deliver_rest(message_sink& sink, std::size_t limit) noexcept;
  std::size_t take_arrived(message_sink& sink, std::size_t limit) noexcept;
  std::size_t take_event(const epoll_event& event, message_sink& sink, std::size_t limit) noexcept;
  void check_lives(message_sink& sink, std::uint64_t now_ns) noexcept;
  void note_rest(tcp::peer& from) noexcept;
  void note_kept() noexcept;
  void publish_rest() noexcept;
  void write_on(tcp::peer& to) noexcept;
  void write_on_all() noexcept;
  bool has_left_all() noexcept;

  const locality_number m_number;
  const tcp_options m_options;
  std::vector<std::string> m_hosts;
  std::vector<std::int64_t> m_processes;
  std::vector<std::unique_ptr<tcp::peer>> m_peers;  // by number; none for this locality
  tcp::descriptor m_epoll;
  tcp::wake_up m_wake_up;

  // Of the thread that receives: peers from whose bytes a limit has left some.
  std::vector<locality_number> m_unfinished;
  std::uint64_t m_next_life_check_ns = 0;
  // receive() asks the kernel no earlier. wait() sets it back, in whichever thread.
  std::atomic<std::uint64_t> m_next_poll_ns{0};
  // A wait must not sleep while receive() has left something, and a receive that leaves something must wake a wait. Each
  // side writes its own and then reads the other's, in sequentially consistent order: so one of them sees the other.
  std::atomic<bool> m_has_rest{false};
  std::atomic<bool> m_has_kept{false};  // the same, of what leave() has read
  std::atomic<bool> m_is_waiting{false};
};

std::string tcp_transport::open() {
  m_epoll = tcp::descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (m_epoll.is_open() && m_wake_up.is_open()) return {};
  return "cannot open a descriptor for TCP: " + tcp::error_text(errno);
}

void tcp_transport::adopt(std::vector<tcp::member>& members) {
  const tcp::peer_settings settings{m_epoll.get(), m_options.largest_message, m_options.write_limit};
  for (locality_number number = 0; number < members.size(); ++number) {
    m_hosts[number] = tcp::host_name_of(members[number].claim);
    m_processes[number] = members[number].claim.process;
    if (number == m_number) continue;
    tcp::descriptor socket = members[number].channel.release();
    tcp::watch_host(socket.get());
    m_peers[number] = std::make_unique<tcp::peer>(number, std::move(socket), settings);
  }
}

std::size_t tcp_transport::receive(message_sink& sink, std::size_t limit) noexcept {
  if (limit == 0) return 0;
  if (m_has_kept.load(std::memory_order_relaxed)) note_kept();
  std::size_t messages = m_unfinished.empty() ? 0 : deliver_rest(sink, limit);
  if (messages < limit) messages += take_arrived(sink, limit - messages);
  publish_rest();
  return messages;
}

std::size_t tcp_transport::deliver_rest(message_sink& sink, std::size_t limit) noexcept {
  std::size_t messages = 0;
  while (!m_unfinished.empty() && messages < limit) {
    tcp::peer& from = *m_peers[m_unfinished.back()];
    m_unfinished.pop_back();
    messages += from.deliver(sink, limit - messages);
    if (messages == limit) note_rest(from);
  }
  return messages;
}

std::size_t tcp_transport::take_arrived(message_sink& sink, std::size_t limit) noexcept {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns < m_next_poll_ns.load(std::memory_order_relaxed)) return 0;
  std::array<epoll_event, events_per_poll> events;
  const int ready = epoll_wait(m_epoll.get(), events.data(), static_cast<int>(events.size()), 0);
  if (ready <= 0) m_next_poll_ns.store(now_ns + least_poll_interval_ns, std::memory_order_relaxed);
  std::size_t messages = 0;
  for (int i = 0; i < ready && messages < limit; ++i)
    messages += take_event(events[static_cast<std::size_t>(i)], sink, limit - messages);
  if (now_ns >= m_next_life_check_ns) check_lives(sink, now_ns);
  return messages;
}

std::size_t tcp_transport::take_event(const epoll_event& event, message_sink& sink, std::size_t limit) noexcept {
  tcp::peer& other = *m_peers[event.data.u32];
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLIN)) != 0) write_on(other);
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return 0;
  const std::size_t messages = other.receive(sink, limit);
  if (messages == limit) note_rest(other);
  return messages;
}

void tcp_transport::check_lives(message_sink& sink, std::uint64_t now_ns) noexcept {
  m_next_life_check_ns = now_ns + life_check_interval_ns;
  for (const auto& other : m_peers)
    if (other != nullptr) other->check_life(sink);
}

// At most one entry for each peer: it is removed before its bytes are delivered, and nothing is read before that.
void tcp_transport::note_rest(tcp::peer& from) noexcept {
  if (from.has_received_bytes()) m_unfinished.push_back(from.number());
}

// What leave() has read, in any thread.
void tcp_transport::note_kept() noexcept {
  m_has_kept.store(false, std::memory_order_seq_cst);
  m_unfinished.clear();
  for (const auto& other : m_peers)
    if (other != nullptr) note_rest(*other);
}

void tcp_transport::publish_rest() noexcept {
  const bool has_rest = !m_unfinished.empty();
  if (!has_rest && !m_has_rest.load(std::memory_order_relaxed)) return;
  m_has_rest.store(has_rest, std::memory_order_seq_cst);
  if (has_rest && m_is_waiting.load(std::memory_order_seq_cst)) m_wake_up.ring();
}

// A wait that sleeps for the room would not see that it has come, because it is not reported any more.
void tcp_transport::write_on(tcp::peer& to) noexcept {
  if (to.on_writable()) m_wake_up.ring();
}

void tcp_transport::write_on_all() noexcept {
  for (const auto& other : m_peers)
    if (other != nullptr && other->has_unsent()) write_on(*other);
}

void tcp_transport::wait(std::uint64_t ns) noexcept {
  m_is_waiting.store(true, std::memory_order_seq_cst);
  if (!m_has_rest.load(std::memory_order_seq_cst) && !m_has_kept.load(std::memory_order_seq_cst)) {
    // A poll set can itself be polled, and only poll has a timeout in nanoseconds in all versions of Linux.
    std::array<pollfd, 2> polled{{{m_epoll.get(), POLLIN, 0}, {m_wake_up.get(), POLLIN, 0}}};
    const timespec timeout = as_timespec(ns);
    ppoll(polled.data(), polled.size(), &timeout, nullptr);
    if (polled[0].revents != 0) write_on_all();
    if (polled[1].revents != 0) m_wake_up.reset();
  }
  m_is_waiting.store(false, std::memory_order_relaxed);
  m_next_poll_ns.store(0, std::memory_order_relaxed);
}

bool tcp_transport::leave(std::uint64_t ns) noexcept {
  const std::uint64_t begin_ns = base::monotonic_ns();
  for (const auto& other : m_peers)
    if (other != nullptr) other->begin_leaving();
  std::uint64_t pause_ns = first_leave_pause_ns;
  while (!has_left_all()) {
    const std::uint64_t elapsed_ns = base::monotonic_ns() - begin_ns;
    if (elapsed_ns >= ns) return false;
    const timespec pause = as_timespec(std::min(pause_ns, ns - elapsed_ns));
    nanosleep(&pause, nullptr);
    pause_ns = std::min(2 * pause_ns, longest_leave_pause_ns);
  }
  return true;
}

bool tcp_transport::has_left_all() noexcept {
  bool has_left = true;
  bool has_kept = false;
  for (const auto& other : m_peers) {
    if (other == nullptr || other->finish_leaving()) continue;
    has_left = other->has_ended_after(has_kept) && has_left;
  }
  if (has_kept) {
    m_has_kept.store(true, std::memory_order_seq_cst);
    if (m_is_waiting.load(std::memory_order_seq_cst)) m_wake_up.ring();
  }
  return has_left;
}

// A sentence about what cannot be, or nothing.
std::string problem_of(const membership& self, const tcp_options& options) {
  if (self.size == 0 || self.size > most_tcp_localities)
    return "a job over TCP has 1 to " + std::to_string(most_tcp_localities) + " localities, found " +
           std::to_string(self.size);
  if (self.number >= self.size)
    return "the localities of a job of " + std::to_string(self.size) + " have the numbers 0 to " +
           std::to_string(self.size - 1) + ", found " + std::to_string(self.number);
  if (options.largest_message < least_largest_message || options.largest_message > most_largest_message)
    return "the largest message over TCP has " + std::to_string(least_largest_message) + " to " +
           std::to_string(most_largest_message) + " bytes, found " + std::to_string(options.largest_message);
  if (self.size == 1) return {};
  if (self.secret.empty()) return "the job has no secret, so nobody could be told from a stranger";
  if (!tcp::parse_address(options.meeting_address, 0).is_valid())
    return "the meeting address must be an IPv4 or IPv6 address in digits, found '" + options.meeting_address + "'";
  if (!tcp::parse_address(options.listen_address, 0).is_valid())
    return "the address to listen at must be an IPv4 or IPv6 address in digits, found '" + options.listen_address + "'";
  if (options.meeting_port == 0 && !(self.number == 0 && options.meeting_socket >= 0))
    return "the meeting port must be 1 to 65535, found 0";
  return {};
}

}  // namespace

opened_transport open_tcp(const membership& self, const tcp_options& options) {
  tcp::descriptor meeting_socket(options.meeting_socket);  // closed in any case
  std::string error = problem_of(self, options);
  if (!error.empty()) return {nullptr, error};
  auto link = std::make_unique<tcp_transport>(self, options);
  error = link->open();
  if (!error.empty()) return {nullptr, error};
  tcp::bootstrap start(self, options, std::move(meeting_socket));
  error = start.run();
  if (!error.empty()) return {nullptr, error};
  link->adopt(start.members());
  return {std::move(link), {}};
}

}  // namespace trimtab::parcels
