// A transport whose messages are sent by communication servers: threads apart from those that compute, to which clients hand
// small messages in lock-free queues. It keeps the contract of transports (transport.hpp), and passes its test-suite.
//
// A message that was handed over counts as sent. It is lost if this locality ends without leave(), or if leave() returns
// false.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "trimtab/parcels/servers/server_counts.hpp"
#include "trimtab/parcels/servers/server_place.hpp"
#include "trimtab/parcels/servers/server_settings.hpp"
#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/tasks/core/event_count.hpp"

namespace trimtab::parcels {

struct destination;
class communication_server;

class served_transport final : public transport {
 public:
  // places: where servers run, in this order, again from the first if there are more servers; empty: the system chooses.
  // Throws std::invalid_argument, which says what is wrong with the settings.
  served_transport(std::unique_ptr<transport> inner, const server_settings& settings, std::vector<server_place> places = {});
  ~served_transport() override;  // ends the servers at once

  // Any thread, any time. Threads of servers that are not used any more sleep until the end. Where the system has no thread
  // for another server, there are fewer.
  void set(const server_settings& settings);  // throws std::invalid_argument
  server_settings settings() const;
  // Sets `next` if the settings are still `expected`. Returns those that are in force now; nullopt: somebody else has
  // changed them. Throws std::invalid_argument.
  std::optional<server_settings> replace(const server_settings& expected, const server_settings& next);
  // CPUs for servers; 0: the system chooses.
  std::uint32_t places() const noexcept { return static_cast<std::uint32_t>(m_places.size()); }
  // No message is handed to servers any more. What they have is sent; until then a client that would overtake it is refused.
  void disable();
  void enable();
  // More servers or fewer. Return how many there are, 0 to most_servers.
  std::uint32_t wind_up(std::uint32_t count);
  std::uint32_t wind_down(std::uint32_t count);
  // Those to which clients give messages now; 0 while they are disabled.
  std::uint32_t active_servers() const noexcept { return m_active.load(std::memory_order_acquire); }
  // Waits until servers have sent everything that they had when this was called and what came meanwhile. False: `ns`
  // nanoseconds are over.
  bool drain(std::uint64_t ns) noexcept;
  bool are_all_asleep() const noexcept;  // the servers
  injection_counts counts() const;

  locality_number number() const noexcept override { return m_inner->number(); }
  std::uint32_t size() const noexcept override { return m_inner->size(); }
  const char* name() const noexcept override { return m_inner->name(); }
  std::size_t largest_message() const noexcept override { return m_inner->largest_message(); }
  std::string_view host_of(locality_number other) const noexcept override { return m_inner->host_of(other); }
  std::int64_t process_of(locality_number other) const noexcept override { return m_inner->process_of(other); }

  using transport::try_send;
  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override;
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override;
  void wait(std::uint64_t ns) noexcept override;
  void wake() noexcept override { m_inner->wake(); }
  // Waits first until servers have sent everything. If they have not within `ns` nanoseconds, it does not leave, and may be
  // called again.
  bool leave(std::uint64_t ns) noexcept override;

 private:
  // Sizes up to 2^k bytes, k from 0 to 16.
  static constexpr std::size_t size_classes = 17;
  // What clients read of the settings.
  struct live_settings {
    std::atomic<std::uint32_t> consecutive{1}, most_under_way{1};
    std::atomic<std::size_t> largest_bytes{0};  // that a server may get
    // By size_class: servers that get these messages, and in rows of how many; both in one, so that they belong together.
    std::atomic<std::uint64_t> selection[size_classes] = {};
    std::atomic<std::uint64_t> longest_pause_ns{0}, looks_before_sleep_ns{0};
    std::atomic<bool> clients_stay_active{true}, keeps_order{true};
  };
  struct outgoing_message;

  void publish_locked();
  std::uint32_t start_servers_locked(std::uint32_t count);
  std::uint32_t change_servers(std::uint32_t count);
  void note_domains();
  void publish_selection_locked();
  std::uint32_t servers_for(std::size_t bytes, std::uint32_t row, std::uint32_t active) const noexcept;
  std::uint32_t expected_row() const noexcept;
  std::uint32_t choose_server(destination& target, locality_number to, std::uint32_t servers) const noexcept;
  send_status send_directly(const outgoing_message& message) noexcept;
  send_status send_beside_server(const outgoing_message& message) noexcept;
  send_status send_in_order(const outgoing_message& message, std::uint32_t active) noexcept;
  send_status send_without_order(const outgoing_message& message, std::uint32_t active) noexcept;
  bool give(const outgoing_message& message, std::uint32_t server) noexcept;
  send_status refuse_until(destination& target, std::uint32_t level) noexcept;
  bool has_unsent() const noexcept;
  void signal_room() noexcept;

  const std::unique_ptr<transport> m_inner;
  const std::vector<server_place> m_places;
  std::vector<std::uint32_t> m_domain_of_cpu;  // of the CPUs of places and their neighbours; empty: one domain
  std::vector<std::vector<std::uint32_t>> m_servers_of_domain;  // numbers, ascending
  const std::uint64_t m_identity;                               // unlike all others of this process
  std::vector<destination> m_destinations;
  tasks::event_count m_drained;
  live_settings m_live;

  mutable std::mutex m_control;  // of what follows
  server_settings m_settings;
  bool m_is_enabled = true;
  // Grows only, and never moves: clients read entries below m_active or `owner` of a destination without the lock.
  std::vector<std::unique_ptr<communication_server>> m_servers;
  std::atomic<std::uint32_t> m_started{0};  // entries of m_servers
  std::atomic<std::uint32_t> m_active{0};
};

}  // namespace trimtab::parcels
