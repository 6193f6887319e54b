// A thread that sends for others.
//
//   clients --slots--> m_arrived --> server --> inner transport
//      ^                               |  \--> m_backlogs[to]: what the transport has had no room for, in order
//      +---------- m_free <------------+
//
// All slots are in m_free, m_arrived, a backlog, or with the thread that moves them. So m_arrived is never full, and a
// client that finds m_free empty has found the server busy.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "servers/bounded_queue.hpp"
#include "servers/destination.hpp"
#include "servers/message_slot.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/servers/server_counts.hpp"
#include "trimtab/tasks/core/event_count.hpp"
#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::parcels {

// What the servers of a locality share. It outlives them.
struct server_surroundings {
  transport& inner;
  std::span<destination> destinations;
  tasks::event_count& drained;  // woken after each message
  const std::atomic<std::uint64_t>& looks_before_sleep_ns;
};

class communication_server {
 public:
  static constexpr std::uint32_t slots = 256;

  explicit communication_server(const server_surroundings& shared);
  ~communication_server();  // what it has not sent is lost
  communication_server(const communication_server&) = delete;
  communication_server& operator=(const communication_server&) = delete;

  // Once. cpu: where it runs. False: the system has no thread for it.
  bool start(std::optional<std::uint32_t> cpu);

  // Clients, any thread. Takes over a message, and counts it in `unsent` of its destination. False: no slot is free.
  bool give(locality_number to, std::span<const bytes_view> parts, std::size_t size) noexcept;
  // Of a client that was refused: the next slot that becomes free ends a wait of the inner transport.
  void want_slot() noexcept;
  // Any thread: the transport may have room again.
  void signal_room() noexcept;

  bool is_asleep() const noexcept { return m_sleep.sleepers() != 0; }
  server_counts counts() const noexcept;

 private:
  struct backlog {
    std::uint32_t first = message_slot::none, last = message_slot::none;
    std::uint64_t tried_ns = 0;  // when the transport has refused it last
    std::uint64_t pause_ns = 0;  // until it is tried again
  };

  void run(std::optional<std::uint32_t> cpu) noexcept;
  bool send_arrived() noexcept;
  bool send_one(std::uint32_t slot) noexcept;
  send_status send_now(const message_slot& message) noexcept;
  void keep(locality_number to, std::uint32_t slot) noexcept;
  bool retry_backlogs() noexcept;
  bool send_backlog(locality_number to, std::uint64_t now_ns) noexcept;
  void finish(std::uint32_t slot, send_status status) noexcept;
  void rest() noexcept;
  std::uint64_t longest_sleep_ns(std::uint64_t now_ns) const noexcept;

  const server_surroundings m_shared;
  const std::unique_ptr<message_slot[]> m_slots;
  bounded_queue m_free{slots};
  bounded_queue m_arrived{slots};
  tasks::event_count m_sleep;
  std::atomic<bool> m_stops{false};
  std::atomic<bool> m_is_slot_wanted{false};
  std::atomic<bool> m_has_backlog{false};
  std::atomic<bool> m_is_room_signalled{false};

  // Of the server's thread.
  std::vector<backlog> m_backlogs;         // by destination
  std::vector<locality_number> m_stalled;  // those that have a backlog
  std::uint64_t m_idle_since_ns = 0;       // 0: it has just worked
  bool m_has_own_cpu = false;

  alignas(64) tasks::single_writer_count m_messages, m_bytes, m_dropped, m_sleeps, m_refusals, m_busy_ticks;
  std::atomic<std::uint64_t> m_full_queues{0};  // counted by clients
  std::uint64_t m_begin_ns = 0;                 // monotonic: ticks change their clock where recording begins later
  double m_ns_per_tick = 1;
  std::thread m_thread;
};

}  // namespace trimtab::parcels
