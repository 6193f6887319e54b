#include "transport/tcp_peer.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

namespace trimtab::parcels::tcp {

namespace {

// Parts that go to the kernel from where they lie. A message of more parts is copied first.
constexpr std::size_t most_parts = 14;
// Calls in a row, so that one connection with a limit for tests does not keep the others waiting.
constexpr int most_writes_at_once = 16;

// What two buffers of the kernel and one message need at most; reached only by members that leave at once without receiving.
constexpr std::size_t most_kept = std::size_t{64} << 20;

constexpr std::array<std::byte, frame_alignment> padding_zeros{};

iovec as_iovec(std::span<const std::byte> bytes) noexcept { return {const_cast<std::byte*>(bytes.data()), bytes.size()}; }

// The kernel takes no more than the first `limit` bytes of these; returns how many parts that are.
std::size_t cut_to(std::span<iovec> parts, std::size_t limit) noexcept {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].iov_len >= limit) {
      parts[i].iov_len = limit;
      return i + 1;
    }
    limit -= parts[i].iov_len;
  }
  return parts.size();
}

std::size_t total_bytes(std::span<const bytes_view> parts) noexcept {
  std::size_t total = 0;
  for (const bytes_view part : parts) total += part.size();
  return total;
}

}  // namespace

peer::peer(locality_number number, descriptor socket, const peer_settings& settings)
    : m_number(number), m_socket(std::move(socket)), m_settings(settings), m_reader(settings.largest_message) {
  update_watch();
}

send_status peer::send(std::span<const bytes_view> parts) noexcept {
  if (!m_can_send.load(std::memory_order_acquire)) return send_status::gone;
  const std::lock_guard lock(m_lock);
  if (!write_pending()) {
    m_has_refused = true;
    watch();
    return send_status::no_room;
  }
  // The other side may have gone since, or just now.
  return m_can_send.load(std::memory_order_relaxed) ? write_frame(parts) : send_status::gone;
}

// True: nothing is pending any more.
bool peer::write_pending() noexcept {
  for (int i = 0; i < most_writes_at_once && !m_pending.is_empty(); ++i) {
    iovec part = as_iovec(m_pending.front());
    const ssize_t written = write(std::span(&part, 1));
    if (written <= 0) break;
    m_pending.remove_front(static_cast<std::size_t>(written));
  }
  if (m_pending.is_empty() && m_is_leaving && !m_is_shut) {
    m_is_shut = true;
    shutdown(m_socket.get(), SHUT_WR);
  }
  return m_pending.is_empty();
}

// Bytes that the kernel has taken, 0 where it has no room; -1: the connection cannot be written any more.
ssize_t peer::write(std::span<iovec> parts) noexcept {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = m_settings.write_limit == 0 ? parts.size() : cut_to(parts, m_settings.write_limit);
  for (;;) {
    const ssize_t written = sendmsg(m_socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written >= 0) return written;
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) return 0;
    if (errno == EINTR) continue;
    stop_sending(errno);
    return -1;
  }
}

send_status peer::write_frame(std::span<const bytes_view> parts) noexcept {
  if (parts.size() > most_parts) return keep_frame(parts, 0);
  const std::size_t total = total_bytes(parts);
  const frame_header header{static_cast<std::uint32_t>(total), frame_kind::message};
  std::array<iovec, most_parts + 2> all;
  std::size_t count = 0;
  all[count++] = as_iovec(bytes_of(header));
  for (const bytes_view part : parts) all[count++] = as_iovec(part);
  all[count++] = as_iovec(std::span(padding_zeros).first(padded(total) - total));
  const ssize_t written = write(std::span(all).first(count));
  if (written < 0) return send_status::gone;
  if (written == 0) {
    m_has_refused = true;
    watch();
    return send_status::no_room;
  }
  if (static_cast<std::size_t>(written) == frame_bytes(total)) return send_status::sent;
  return keep_frame(parts, static_cast<std::size_t>(written));
}

// Copies the frame without its first `written` bytes, which the kernel has.
send_status peer::keep_frame(std::span<const bytes_view> parts, std::size_t written) noexcept {
  const std::size_t total = total_bytes(parts);
  const frame_header header{static_cast<std::uint32_t>(total), frame_kind::message};
  if (!m_pending.reserve(frame_bytes(total) - written)) {
    if (written == 0) return send_status::no_room;
    stop_sending(ENOMEM);  // half a frame is on its way
    return send_status::gone;
  }
  const auto keep = [&](std::span<const std::byte> bytes) {
    const std::size_t skipped = std::min(written, bytes.size());
    written -= skipped;
    m_pending.append(bytes.subspan(skipped));
  };
  keep(bytes_of(header));
  for (const bytes_view part : parts) keep(part);
  keep(std::span(padding_zeros).first(padded(total) - total));
  if (!write_pending()) watch();
  return send_status::sent;
}

// The reading half meets the end of the connection as well, and reports it.
void peer::stop_sending(int error) noexcept {
  m_can_send.store(false, std::memory_order_release);
  if (m_send_error == 0) m_send_error = error;
  m_pending.clear();
  m_is_dead = m_is_shut = true;
  shutdown(m_socket.get(), SHUT_RDWR);
}

bool peer::on_writable() noexcept {
  const std::lock_guard lock(m_lock);
  if (!write_pending()) return false;
  m_wants_room.store(false, std::memory_order_release);
  update_watch();
  return std::exchange(m_has_refused, false);
}

void peer::watch() noexcept {
  m_wants_room.store(true, std::memory_order_release);
  update_watch();
}

// An entry without events still reports errors and the end, again and again: so there is none then.
void peer::update_watch() noexcept {
  const bool wants_room = m_wants_room.load(std::memory_order_relaxed);
  const std::uint32_t events = (m_is_reading ? EPOLLIN : 0u) | (wants_room ? EPOLLOUT : 0u);
  if (events == m_watched) return;
  epoll_event watched{};
  watched.events = events;
  watched.data.u32 = m_number;
  const int operation = m_watched == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  epoll_ctl(m_settings.epoll, operation, m_socket.get(), &watched);
  m_watched = events;
}

void peer::begin_leaving() noexcept {
  const std::lock_guard lock(m_lock);
  if (m_is_leaving || m_is_dead) return;
  m_is_leaving = true;
  m_can_send.store(false, std::memory_order_release);
  const frame_header header{0, frame_kind::leaving};
  if (!m_pending.append(bytes_of(header))) return stop_sending(ENOMEM);
  if (!write_pending()) watch();
}

bool peer::finish_leaving() noexcept {
  const std::lock_guard lock(m_lock);
  return write_pending() && (m_is_dead || is_end_acknowledged(m_socket.get()));
}

bool peer::has_ended_after(bool& has_kept) noexcept {
  if (!m_reading_lock.try_lock()) return false;  // receive() is reading
  const std::lock_guard lock(m_reading_lock, std::adopt_lock);
  return m_state != peer_state::open || keep_arrived(has_kept);
}

bool peer::keep_arrived(bool& has_kept) noexcept {
  for (;;) {
    const std::span<std::byte> space = m_reader.space_for_many(most_kept);
    if (space.empty()) return false;
    const ssize_t received = recv(m_socket.get(), space.data(), space.size(), MSG_DONTWAIT);
    // receive() meets both again.
    if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) return true;
    if (received < 0) return false;
    m_reader.add(static_cast<std::size_t>(received));
    has_kept = true;
  }
}

bool peer::has_received_bytes() noexcept {
  const std::lock_guard lock(m_reading_lock);
  return m_state == peer_state::open && m_reader.has_bytes();
}

std::size_t peer::deliver(message_sink& sink, std::size_t limit) noexcept {
  const std::lock_guard lock(m_reading_lock);
  return deliver_locked(sink, limit);
}

std::size_t peer::deliver_locked(message_sink& sink, std::size_t limit) noexcept {
  std::size_t messages = 0;
  while (m_state == peer_state::open && messages < limit) {
    const frame_reader::frame next = m_reader.next();
    if (next.content == frame_content::incomplete) break;
    if (next.content == frame_content::message) {
      sink.on_message(m_number, next.body);
      ++messages;
    } else if (next.content == frame_content::leaving) {
      end_reading(peer_state::left);
      sink.on_left(m_number);
    } else {
      lose(sink, m_reader.fault());
    }
  }
  return messages;
}

std::size_t peer::receive(message_sink& sink, std::size_t limit) noexcept {
  const std::lock_guard lock(m_reading_lock);
  std::size_t messages = deliver_locked(sink, limit);
  if (m_state != peer_state::open || messages == limit) return messages;
  const std::span<std::byte> space = m_reader.space();
  if (space.empty()) {
    lose(sink, m_reader.fault());
    return messages;
  }
  const ssize_t received = recv(m_socket.get(), space.data(), space.size(), MSG_DONTWAIT);
  if (received > 0) {
    m_reader.add(static_cast<std::size_t>(received));
    messages += deliver_locked(sink, limit - messages);
  } else if (received == 0) {
    lose_for_error(sink, 0);
  } else if (errno != EAGAIN && errno != EINTR) {
    lose_for_error(sink, errno);
  }
  return messages;
}

void peer::check_life(message_sink& sink) noexcept {
  const std::lock_guard lock(m_reading_lock);
  if (m_state == peer_state::open && has_vanished(m_socket.get())) lose(sink, "its host does not answer any more");
}

// What is pending for one that has left is still written: it may go on receiving.
void peer::end_reading(peer_state state) noexcept {
  m_state = state;
  const std::lock_guard lock(m_lock);
  m_can_send.store(false, std::memory_order_release);
  m_is_reading = false;
  if (state == peer_state::lost) {
    stop_sending(0);
    m_wants_room.store(false, std::memory_order_release);
  }
  update_watch();
}

void peer::lose(message_sink& sink, std::string_view reason) noexcept {
  end_reading(peer_state::lost);
  sink.on_lost(m_number, reason);
}

void peer::lose_for_error(message_sink& sink, int error) noexcept {
  if (error == 0) {
    const std::lock_guard lock(m_lock);
    error = m_send_error;
  }
  const bool is_failure = error != 0 && error != EPIPE;
  const std::string reason = is_failure             ? "its connection failed: " + error_text(error)
                             : m_reader.has_bytes() ? "its connection was closed within a message"
                                                    : "its connection was closed";
  lose(sink, reason);
}

}  // namespace trimtab::parcels::tcp
