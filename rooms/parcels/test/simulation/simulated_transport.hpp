// A transport in simulated time, on a network model. One thread calls everything.
//
// try_send and receive spend time of whoever calls them. wait() does not wait: it is a simulated thread that sleeps, until
// on_event is called.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulation/network_model.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels::simulation {

// What connects the transports of one job.
class simulated_network {
 public:
  struct sent_message {
    locality_number from = 0, to = 0;
    std::size_t bytes = 0;
    nanoseconds sent = 0, arrival = 0;
    bool operator==(const sent_message&) const = default;
  };
  struct options {
    nanoseconds look_ns = 20;                       // to see whether a message has arrived
    std::size_t most_unreceived = ~std::size_t{0};  // bytes from one locality to another, on their way or not yet received
    bool keeps_trace = false;
  };

  simulated_network(event_queue& events, std::uint32_t size, const network_parameters& parameters, std::uint64_t seed,
                    const options& chosen);

  event_queue& events() noexcept { return m_events; }
  const network_parameters& parameters() const noexcept { return m_model.parameters(); }
  const std::vector<sent_message>& trace() const noexcept { return m_trace; }
  std::uint64_t messages() const noexcept { return m_messages; }
  // Which thread of its locality sends, for contention.
  std::uint32_t client = 0;

 private:
  friend class simulated_transport;
  enum class presence : std::uint8_t { member, left, lost };
  struct letter {
    locality_number from = 0;
    presence end = presence::member;  // member: a message
    std::vector<std::uint64_t> words = {};
    std::size_t size = 0;
  };
  struct member {
    presence state = presence::member;
    std::deque<letter> arrived = {};
    std::vector<std::size_t> unreceived = {};  // bytes, by sender
    std::function<void(bool is_wake)> on_event = {};
  };

  send_status send(locality_number from, locality_number to, std::span<const bytes_view> parts);
  std::size_t receive(locality_number to, message_sink& sink, std::size_t limit);
  std::size_t deliver(const letter& message, message_sink& sink);
  void announce_room(locality_number from);
  void end(locality_number number, presence state);
  void notify(locality_number number, bool is_wake = false);

  event_queue& m_events;
  network_model m_model;
  options m_options;
  std::vector<member> m_members;
  std::vector<sent_message> m_trace;
  std::uint64_t m_messages = 0;
};

class simulated_transport final : public transport {
 public:
  simulated_transport(std::shared_ptr<simulated_network> network, locality_number number);
  ~simulated_transport() override;
  // Called when wait() would end: a message has arrived, room has come after a refusal, another locality has ended, or
  // wake() was called.
  void set_on_event(std::function<void(bool is_wake)> call);

  locality_number number() const noexcept override { return m_number; }
  std::uint32_t size() const noexcept override;
  const char* name() const noexcept override { return "simulated network"; }
  std::size_t largest_message() const noexcept override { return std::size_t{1} << 18; }
  std::string_view host_of(locality_number) const noexcept override { return "simulated host"; }
  std::int64_t process_of(locality_number) const noexcept override;
  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override;
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override;
  void wait(std::uint64_t) noexcept override {}
  void wake() noexcept override;
  bool leave(std::uint64_t ns) noexcept override;
  bool has_arrived() const noexcept;

 private:
  std::shared_ptr<simulated_network> m_network;
  locality_number m_number;
};

}  // namespace trimtab::parcels::simulation
