#include "simulation/network_model.hpp"

#include <algorithm>
#include <cmath>

#include "trimtab/base/hash.hpp"

namespace trimtab::parcels::simulation {

network_model::network_model(std::uint32_t localities, const network_parameters& parameters, std::uint64_t seed)
    : m_parameters(parameters),
      m_localities(localities),
      m_ports(std::size_t{localities} * parameters.ports),
      m_last_arrival(std::size_t{localities} * localities),
      m_random(base::mix(seed)) {}

network_model::port& network_model::first_free_port(std::uint32_t locality) {
  const auto first = m_ports.begin() + static_cast<std::ptrdiff_t>(std::size_t{locality} * m_parameters.ports);
  return *std::min_element(first, first + m_parameters.ports,
                           [](const port& one, const port& other) { return one.free_at < other.free_at; });
}

nanoseconds network_model::time_of_room(std::uint32_t locality) const {
  const double free_at = const_cast<network_model&>(*this).first_free_port(locality).free_at;
  const auto whole = static_cast<nanoseconds>(std::ceil(free_at));
  return whole > m_parameters.longest_queue_ns ? whole - m_parameters.longest_queue_ns : 0;
}

double network_model::slow_down(port& used, std::uint32_t client, nanoseconds time) {
  if (m_parameters.contention == 0) return 1;
  std::erase_if(used.clients, [&](const auto& known) {
    return known.first == client || known.second + m_parameters.client_memory_ns < time;
  });
  const auto others = static_cast<double>(used.clients.size());
  used.clients.emplace_back(client, time);
  return 1 + m_parameters.contention * others;
}

double network_model::random_jitter() {
  if (m_parameters.jitter_ns == 0) return 0;
  m_random = base::mix(m_random);
  return m_parameters.jitter_ns * static_cast<double>(m_random >> 11) * 0x1p-53;
}

std::optional<nanoseconds> network_model::send(const message& sent, nanoseconds time) {
  if (time < time_of_room(sent.from)) return {};
  port& used = first_free_port(sent.from);
  const double long_ns = static_cast<double>(sent.bytes - 1) * m_parameters.gap_per_byte_ns;
  const double begin = std::max(used.free_at, static_cast<double>(time));
  used.free_at = begin + (m_parameters.gap_ns + long_ns) * slow_down(used, sent.client, time);
  const double arrival = begin + long_ns + m_parameters.latency_ns + random_jitter();
  nanoseconds& last = m_last_arrival[std::size_t{sent.from} * m_localities + sent.to];
  last = std::max(last, static_cast<nanoseconds>(std::llround(arrival)));
  return last;
}

}  // namespace trimtab::parcels::simulation
