#include "simulation/injection_model.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "simulation/simulated_thread.hpp"

namespace trimtab::parcels::simulation {

namespace {

class injection_run {
 public:
  injection_run(const injection_machine& machine, const injection_load& load, const server_settings& settings)
      : m_machine(machine), m_load(load), m_settings(settings), m_network(load.senders + 1, machine.network, 1) {
    for (std::uint32_t i = 0; i < load.senders; ++i) m_clients.push_back(std::make_unique<client>(m_events));
    for (std::uint32_t i = 0; i < settings.servers; ++i) m_servers.push_back(std::make_unique<simulated_thread>(m_events));
  }

  double run() {
    const nanoseconds begin = m_events.now();
    for (std::uint32_t i = 0; i < m_load.senders; ++i) m_clients[i]->thread.run([this, i] { begin_row(i); });
    while (m_events.run_next()) continue;
    const double messages = static_cast<double>(m_load.senders) * m_load.in_flight * m_load.rows;
    return messages / static_cast<double>(m_last_end - begin) * 1e9;
  }

 private:
  struct client {
    explicit client(event_queue& events) : thread(events) {}
    simulated_thread thread;
    std::uint32_t rows = 0, sent = 0;      // sent: of this row
    std::uint32_t unsent = 0, server = 0;  // in that server
    std::uint32_t arrived = 0;             // of this row, or on their way
    nanoseconds last_arrival = 0;
  };

  // As served_transport does: a row is expected to be as long as the one before.
  std::uint32_t servers_of(const client& self) const {
    const std::uint32_t row = std::max(self.sent + 1, self.rows > 0 ? m_load.in_flight : 0);
    for (const served_sizes& sizes : m_settings.selection)
      if (m_load.bytes <= sizes.largest_bytes)
        return row < sizes.least_messages ? 0 : std::min(sizes.servers, m_settings.servers);
    return 0;
  }
  void begin_row(std::uint32_t index) {
    client& self = *m_clients[index];
    self.sent = self.arrived = 0;
    send_next(index);
  }
  void send_next(std::uint32_t index) {
    client& self = *m_clients[index];
    // As the servers keep the order, what follows a message that waits in one goes there, too.
    const std::uint32_t servers = servers_of(self);
    if (servers > 0 || self.unsent > 0)
      hand_over(index, servers);
    else if (!send(index, index))
      return self.thread.run([this, index] { send_next(index); }, m_network.time_of_room(0));
    if (++self.sent < m_load.in_flight) self.thread.run([this, index] { send_next(index); });
  }
  // Of a client's messages, by a thread: its own, or a server. False: there was no room.
  bool send(std::uint32_t index, std::uint32_t by) {
    m_events.spend(m_machine.network.overhead_ns);
    const auto arrival = m_network.send({0, index + 1, m_load.bytes, by}, m_events.now());
    if (!arrival) return false;
    client& self = *m_clients[index];
    self.last_arrival = std::max(self.last_arrival, *arrival);
    if (++self.arrived == m_load.in_flight) end_row(index);
    return true;
  }
  void hand_over(std::uint32_t index, std::uint32_t servers) {
    const auto copy_ns = static_cast<nanoseconds>(m_machine.copy_ns_per_byte * static_cast<double>(m_load.bytes));
    m_events.spend(m_machine.handover_ns + copy_ns);
    if (m_clients[index]->unsent++ == 0) m_clients[index]->server = index % servers;
    const std::uint32_t number = m_clients[index]->server;
    simulated_thread& server = *m_servers[number];
    const nanoseconds delay = server.is_idle() ? m_machine.server_delay_ns : 0;
    server.run([this, index, number] { serve(index, number); }, m_events.now() + delay);
  }
  void serve(std::uint32_t index, std::uint32_t number) {
    // A server waits for room where it is: all that it has leaves through the same ports.
    while (!send(index, m_load.senders + number)) m_events.spend_until(m_network.time_of_room(0));
    m_clients[index]->unsent -= 1;
  }
  // The answer comes back by the same way, through ports of the other locality.
  void end_row(std::uint32_t index) {
    client& self = *m_clients[index];
    const network_parameters& network = m_machine.network;
    const nanoseconds answer = self.last_arrival + 3 * network.overhead_ns + static_cast<nanoseconds>(network.latency_ns);
    m_last_end = std::max(m_last_end, answer);
    if (++self.rows < m_load.rows) self.thread.run([this, index] { begin_row(index); }, answer);
  }

  const injection_machine m_machine;
  const injection_load m_load;
  const server_settings m_settings;
  event_queue m_events;
  network_model m_network;
  std::vector<std::unique_ptr<client>> m_clients;
  std::vector<std::unique_ptr<simulated_thread>> m_servers;
  nanoseconds m_last_end = 0;
};

}  // namespace

double messages_per_s(const injection_machine& machine, const injection_load& load, const server_settings& settings) {
  return injection_run(machine, load, settings).run();
}

injection_machine contended_machine() {
  return {.network = {
              .latency_ns = 800, .overhead_ns = 200, .gap_ns = 100, .gap_per_byte_ns = 0.1, .ports = 2, .contention = 0.2}};
}

injection_machine machine_with_own_ports() {
  injection_machine machine = contended_machine();
  machine.network.ports = model_senders;
  machine.network.contention = 0;
  return machine;
}

saturation_curve curve_of(const injection_machine& machine, std::uint32_t senders, std::uint32_t most_servers) {
  saturation_curve curve{"model", {}};
  for (const std::uint64_t bytes : model_sizes)
    for (const std::uint32_t in_flight : model_rows)
      for (std::uint32_t servers = 0; servers <= most_servers; servers = std::max(1u, 2 * servers)) {
        const double rate = messages_per_s(machine, {bytes, senders, in_flight}, all_served(servers));
        curve.points.push_back({bytes, senders, in_flight, servers, rate});
      }
  return curve;
}

}  // namespace trimtab::parcels::simulation
