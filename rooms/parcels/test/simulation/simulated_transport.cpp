#include "simulation/simulated_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace trimtab::parcels::simulation {

simulated_network::simulated_network(event_queue& events, std::uint32_t size, const network_parameters& parameters,
                                     std::uint64_t seed, const options& chosen)
    : m_events(events), m_model(size, parameters, seed), m_options(chosen), m_members(size) {
  for (member& one : m_members) one.unreceived.resize(size);
}

void simulated_network::notify(locality_number number, bool is_wake) {
  if (m_members[number].on_event) m_members[number].on_event(is_wake);
}

void simulated_network::announce_room(locality_number from) {
  m_events.add(m_model.time_of_room(from), [this, from] { notify(from); });
}

send_status simulated_network::send(locality_number from, locality_number to, std::span<const bytes_view> parts) {
  member& receiver = m_members[to];
  if (receiver.state != presence::member) return send_status::gone;
  letter message{.from = from};
  for (const bytes_view part : parts) message.size += part.size();
  m_events.spend(m_options.look_ns);  // to see whether there is room
  if (receiver.unreceived[from] + message.size > m_options.most_unreceived) return send_status::no_room;
  const nanoseconds handed_over = m_events.now() - m_options.look_ns + parameters().overhead_ns;
  const auto arrival = m_model.send({from, to, message.size, client}, handed_over);
  if (!arrival) return announce_room(from), send_status::no_room;
  m_events.spend_until(handed_over);
  message.words.resize(message.size / 8 + 1);
  auto* place = reinterpret_cast<std::byte*>(message.words.data());
  for (const bytes_view part : parts) {
    if (!part.empty()) std::memcpy(place, part.data(), part.size());
    place += part.size();
  }
  receiver.unreceived[from] += message.size;
  ++m_messages;
  if (m_options.keeps_trace) m_trace.push_back({from, to, message.size, handed_over, *arrival});
  m_events.add(*arrival, [this, to, arrived = std::move(message)]() mutable {
    m_members[to].arrived.push_back(std::move(arrived));
    notify(to);
  });
  return send_status::sent;
}

std::size_t simulated_network::receive(locality_number to, message_sink& sink, std::size_t limit) {
  m_events.spend(m_options.look_ns);
  std::size_t count = 0;
  std::deque<letter>& arrived = m_members[to].arrived;
  while (!arrived.empty() && (count < limit || arrived.front().end != presence::member)) {
    const letter message = std::move(arrived.front());
    arrived.pop_front();
    m_members[to].unreceived[message.from] -= message.size;
    if (m_options.most_unreceived != ~std::size_t{0}) notify(message.from);  // there is room now
    count += deliver(message, sink);
  }
  return count;
}

std::size_t simulated_network::deliver(const letter& message, message_sink& sink) {
  if (message.end == presence::left) return sink.on_left(message.from), 0;
  if (message.end == presence::lost) return sink.on_lost(message.from, "its simulation has ended"), 0;
  m_events.spend(parameters().overhead_ns);
  sink.on_message(message.from, {reinterpret_cast<const std::byte*>(message.words.data()), message.size});
  return 1;
}

// Others hear of it behind the last message, which may be on its way.
void simulated_network::end(locality_number number, presence state) {
  if (m_members[number].state != presence::member) return;
  m_members[number].state = state;
  for (locality_number other = 0; other < m_members.size(); ++other) {
    if (other == number) continue;
    nanoseconds time = m_events.now() + static_cast<nanoseconds>(parameters().latency_ns + parameters().jitter_ns);
    time = std::max(time, m_model.last_arrival(number, other));
    m_events.add(time, [this, number, other, state] {
      m_members[other].arrived.push_back({.from = number, .end = state});
      notify(other);
    });
  }
}

simulated_transport::simulated_transport(std::shared_ptr<simulated_network> network, locality_number number)
    : m_network(std::move(network)), m_number(number) {}

simulated_transport::~simulated_transport() {
  m_network->m_members[m_number].on_event = {};
  m_network->end(m_number, simulated_network::presence::lost);
}

void simulated_transport::set_on_event(std::function<void(bool is_wake)> call) {
  m_network->m_members[m_number].on_event = std::move(call);
}
std::uint32_t simulated_transport::size() const noexcept { return static_cast<std::uint32_t>(m_network->m_members.size()); }
std::int64_t simulated_transport::process_of(locality_number) const noexcept { return getpid(); }
send_status simulated_transport::try_send(locality_number to, std::span<const bytes_view> parts) noexcept {
  return m_network->send(m_number, to, parts);
}
std::size_t simulated_transport::receive(message_sink& sink, std::size_t limit) noexcept {
  return m_network->receive(m_number, sink, limit);
}
void simulated_transport::wake() noexcept { m_network->notify(m_number, true); }
bool simulated_transport::leave(std::uint64_t) noexcept {
  m_network->end(m_number, simulated_network::presence::left);
  return true;
}
bool simulated_transport::has_arrived() const noexcept { return !m_network->m_members[m_number].arrived.empty(); }

}  // namespace trimtab::parcels::simulation
