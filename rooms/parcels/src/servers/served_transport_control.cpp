// How many servers a served_transport has, and what they have done.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "servers/communication_server.hpp"
#include "servers/destination.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"

namespace trimtab::parcels {
namespace {

std::uint64_t next_identity() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void check_settings(const server_settings& settings) {
  const std::string problem = problem_of(settings);
  if (!problem.empty()) throw std::invalid_argument("trimtab: communication servers: " + problem);
}

}  // namespace

served_transport::served_transport(std::unique_ptr<transport> inner, const server_settings& settings,
                                   std::vector<server_place> places)
    : m_inner(std::move(inner)), m_places(std::move(places)), m_identity(next_identity()), m_destinations(m_inner->size()) {
  m_servers.reserve(server_settings::most_servers);
  note_domains();
  set(settings);
}

served_transport::~served_transport() = default;

// If all places are in one domain of memory, clients need not know theirs.
void served_transport::note_domains() {
  if (std::ranges::all_of(m_places, [&](const server_place& place) { return place.domain == m_places.front().domain; }))
    return;
  m_domain_of_cpu.resize(base::cpu_mask::most);
  base::read_memory_domains(m_domain_of_cpu.data(), m_domain_of_cpu.size());
  for (const server_place& place : m_places) {
    if (place.domain >= m_servers_of_domain.size()) m_servers_of_domain.resize(place.domain + 1);
    if (place.cpu < m_domain_of_cpu.size()) m_domain_of_cpu[place.cpu] = place.domain;
  }
  for (std::uint32_t server = 0; server < server_settings::most_servers; ++server)
    m_servers_of_domain[m_places[server % m_places.size()].domain].push_back(server);
}

void served_transport::set(const server_settings& settings) {
  check_settings(settings);
  const std::lock_guard guard(m_control);
  m_settings = settings;
  publish_locked();
}

server_settings served_transport::settings() const {
  const std::lock_guard guard(m_control);
  return m_settings;
}

std::optional<server_settings> served_transport::replace(const server_settings& expected, const server_settings& next) {
  check_settings(next);
  const std::lock_guard guard(m_control);
  if (m_settings != expected) return std::nullopt;
  m_settings = next;
  publish_locked();
  return m_settings;
}

void served_transport::enable() {
  const std::lock_guard guard(m_control);
  m_is_enabled = true;
  publish_locked();
}

void served_transport::disable() {
  const std::lock_guard guard(m_control);
  m_is_enabled = false;
  publish_locked();
}

std::uint32_t served_transport::wind_up(std::uint32_t count) {
  const std::lock_guard guard(m_control);
  const std::uint32_t room = server_settings::most_servers - m_settings.servers;
  return change_servers(m_settings.servers + std::min(count, room));
}

std::uint32_t served_transport::wind_down(std::uint32_t count) {
  const std::lock_guard guard(m_control);
  return change_servers(m_settings.servers - std::min(count, m_settings.servers));
}

std::uint32_t served_transport::change_servers(std::uint32_t count) {
  m_settings.servers = count;
  publish_locked();
  return m_settings.servers;
}

// Each value alone is always right for a message, so clients may see some of the new ones beside old ones. The release of
// m_active pairs with the acquire of clients: they find the servers started.
void served_transport::publish_locked() {
  constexpr auto relaxed = std::memory_order_relaxed;
  m_live.consecutive.store(m_settings.consecutive, relaxed);
  m_live.most_under_way.store(m_settings.most_under_way, relaxed);
  publish_selection_locked();
  m_live.longest_pause_ns.store(m_settings.longest_pause_in_row_ns, relaxed);
  m_live.looks_before_sleep_ns.store(m_settings.looks_before_sleep_ns, relaxed);
  m_live.clients_stay_active.store(m_settings.clients_stay_active, relaxed);
  m_live.keeps_order.store(m_settings.keeps_order, relaxed);
  m_settings.servers = start_servers_locked(m_settings.servers);
  m_active.store(m_is_enabled ? m_settings.servers : 0, std::memory_order_release);
}

void served_transport::publish_selection_locked() {
  m_live.largest_bytes.store(largest_served(m_settings), std::memory_order_relaxed);
  auto sizes = m_settings.selection.begin();
  for (std::size_t size_class = 0; size_class < size_classes; ++size_class) {
    while (sizes != m_settings.selection.end() && sizes->largest_bytes < std::size_t{1} << size_class) ++sizes;
    const std::uint64_t both =
        sizes == m_settings.selection.end() ? 0 : std::uint64_t{sizes->least_messages} << 32 | sizes->servers;
    m_live.selection[size_class].store(both, std::memory_order_relaxed);
  }
}

// Returns how many of them there are.
std::uint32_t served_transport::start_servers_locked(std::uint32_t count) {
  while (m_servers.size() < count) {
    const std::size_t number = m_servers.size();
    auto server = std::make_unique<communication_server>(
        server_surroundings{*m_inner, m_destinations, m_drained, m_live.looks_before_sleep_ns});
    std::optional<std::uint32_t> cpu;
    if (!m_places.empty()) cpu = m_places[number % m_places.size()].cpu;
    if (!server->start(cpu)) break;
    m_servers.push_back(std::move(server));
    m_started.store(static_cast<std::uint32_t>(m_servers.size()), std::memory_order_release);
  }
  return std::min(count, static_cast<std::uint32_t>(m_servers.size()));
}

bool served_transport::are_all_asleep() const noexcept {
  const std::uint32_t started = m_started.load(std::memory_order_acquire);
  for (std::uint32_t server = 0; server < started; ++server)
    if (!m_servers[server]->is_asleep()) return false;
  return true;
}

injection_counts served_transport::counts() const {
  injection_counts sum;
  for (const destination& target : m_destinations) {
    sum.served += target.served.get();
    sum.sent_directly += target.sent_directly.get();
    sum.held_for_order += target.held_for_order.get();
    sum.held_for_flow += target.held_for_flow.get();
  }
  const std::uint32_t started = m_started.load(std::memory_order_acquire);
  for (std::uint32_t server = 0; server < started; ++server) sum.servers.push_back(m_servers[server]->counts());
  return sum;
}

}  // namespace trimtab::parcels
