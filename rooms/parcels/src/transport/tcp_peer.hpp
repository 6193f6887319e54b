// The connection with one other locality after the start: messages in both directions, and how it ends.
//
// Threads: any thread may use the sending half (send, on_writable, leaving); a lock keeps them apart, which is held for one
// call of the system that does not wait. The reading half belongs to the thread that receives, and for a moment to one that
// leaves; a second lock keeps these two apart. Who has the second may take the first, but not the other way round.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "transport/tcp_frame_reader.hpp"
#include "transport/tcp_pending_bytes.hpp"
#include "transport/tcp_socket.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::parcels::tcp {

struct peer_settings {
  int epoll = -1;
  std::size_t largest_message = 0;
  std::size_t write_limit = 0;  // bytes of one call that writes; 0: no limit
};

enum class peer_state : std::uint8_t { open, left, lost };

class peer {
 public:
  peer(locality_number number, descriptor socket, const peer_settings& settings);

  send_status send(std::span<const bytes_view> parts) noexcept;
  bool has_unsent() const noexcept { return m_wants_room.load(std::memory_order_acquire); }
  // Goes on with what is pending. True: there is room again for a message that was turned away.
  bool on_writable() noexcept;

  // No message goes after it. Then finish_leaving() until it returns true: the other host has everything, or cannot get it.
  void begin_leaving() noexcept;
  bool finish_leaving() noexcept;
  // Two members that leave at once do not receive any more, and with both buffers full neither could write its last message.
  // So one that is not finished reads meanwhile, and keeps what it has read for receive(): `has_kept` becomes true. True:
  // the other one has left or is lost as well, so nobody waits for anything.
  bool has_ended_after(bool& has_kept) noexcept;

  locality_number number() const noexcept { return m_number; }
  bool has_received_bytes() noexcept;
  // Gives up to `limit` messages to the sink, from what is read already.
  std::size_t deliver(message_sink& sink, std::size_t limit) noexcept;
  // Reads once what the kernel has, and delivers. `limit` is at least 1.
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept;
  // Whether its host is silent for too long; it is lost then.
  void check_life(message_sink& sink) noexcept;

 private:
  std::size_t deliver_locked(message_sink& sink, std::size_t limit) noexcept;
  bool keep_arrived(bool& has_kept) noexcept;
  bool write_pending() noexcept;
  send_status write_frame(std::span<const bytes_view> parts) noexcept;
  send_status keep_frame(std::span<const bytes_view> parts, std::size_t written) noexcept;
  ssize_t write(std::span<iovec> parts) noexcept;
  void stop_sending(int error) noexcept;
  void watch() noexcept;
  void update_watch() noexcept;
  void end_reading(peer_state state) noexcept;
  void lose(message_sink& sink, std::string_view reason) noexcept;
  void lose_for_error(message_sink& sink, int error) noexcept;

  const locality_number m_number;
  const descriptor m_socket;
  const peer_settings m_settings;

  base::spin_lock m_lock;      // of the following, as far as it is not atomic
  pending_bytes m_pending;     // at most one message, and a frame of leaving
  bool m_has_refused = false;  // a message, for want of room
  bool m_is_leaving = false;
  bool m_is_shut = false;       // for writing
  bool m_is_dead = false;       // in both directions
  bool m_is_reading = true;     // the poll set reports what arrives
  std::uint32_t m_watched = 0;  // events that the poll set reports
  int m_send_error = 0;
  std::atomic<bool> m_wants_room{false};  // the poll set reports when there is room; changes under the lock
  std::atomic<bool> m_can_send{true};     // becomes false under the lock

  base::spin_lock m_reading_lock;  // of the following
  frame_reader m_reader;
  peer_state m_state = peer_state::open;
};

}  // namespace trimtab::parcels::tcp
