// The calls of clients. Those that change the servers are in served_transport_control.cpp.
#include "trimtab/parcels/servers/served_transport.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

#include "servers/communication_server.hpp"
#include "servers/destination.hpp"
#include "trimtab/base/clock.hpp"

namespace trimtab::parcels {

struct served_transport::outgoing_message {
  destination& target;
  locality_number to;
  std::span<const bytes_view> parts;
  std::size_t size;
};

namespace {

// Messages that a thread has sent with short pauses in between, through one transport.
struct message_row {
  std::uint64_t transport = 0;
  std::uint64_t last_ns = 0;
  std::uint32_t messages = 0, messages_before = 0;  // of this row and the one before
};
thread_local message_row row_of_this_thread;

// Tells the transport of those who end, so that nothing more is handed to a server for them.
class end_watcher final : public message_sink {
 public:
  end_watcher(message_sink& sink, std::vector<destination>& destinations) : m_sink(sink), m_destinations(destinations) {}
  void on_message(locality_number from, bytes_view bytes) noexcept override { m_sink.on_message(from, bytes); }
  void on_left(locality_number from) noexcept override {
    m_destinations[from].is_gone.store(true, std::memory_order_relaxed);
    m_sink.on_left(from);
  }
  void on_lost(locality_number from, std::string_view reason) noexcept override {
    m_destinations[from].is_gone.store(true, std::memory_order_relaxed);
    m_sink.on_lost(from, reason);
  }

 private:
  message_sink& m_sink;
  std::vector<destination>& m_destinations;
};

}  // namespace

send_status served_transport::try_send(locality_number to, std::span<const bytes_view> parts) noexcept {
  destination& target = m_destinations[to];
  if (target.is_gone.load(std::memory_order_relaxed)) [[unlikely]]
    return send_status::gone;
  const std::uint32_t active = m_active.load(std::memory_order_acquire);
  const outgoing_message message{target, to, parts, active == 0 ? 0 : bytes_in(parts)};
  const std::uint32_t row = active == 0 ? 0 : expected_row();
  if (target.unsent.load(std::memory_order_acquire) != 0)
    return m_live.keeps_order.load(std::memory_order_relaxed) ? send_in_order(message, active)
                                                              : send_without_order(message, active);
  // Now no server sends there, and none will before this call has ended.
  if (active == 0) return send_directly(message);
  const std::uint32_t servers = servers_for(message.size, row, active);
  if (servers == 0) return send_directly(message);
  const std::uint32_t server = choose_server(target, to, servers);
  if (give(message, server)) return send_status::sent;
  if (m_live.clients_stay_active.load(std::memory_order_relaxed)) return send_directly(message);
  m_servers[server]->want_slot();
  return send_status::no_room;
}

// How many servers may get a message of that size, in a row of so many; 0: the client sends it.
std::uint32_t served_transport::servers_for(std::size_t bytes, std::uint32_t row, std::uint32_t active) const noexcept {
  const auto size_class = static_cast<std::size_t>(std::bit_width(bytes - 1));
  if (size_class >= size_classes) return 0;
  const std::uint64_t both = m_live.selection[size_class].load(std::memory_order_relaxed);
  return row < both >> 32 ? 0 : std::min(active, static_cast<std::uint32_t>(both));
}

// Counts the message that this thread sends now. Returns how many its row will have, as far as is known.
std::uint32_t served_transport::expected_row() const noexcept {
  message_row& row = row_of_this_thread;
  const std::uint64_t now_ns = base::monotonic_ns();
  const bool is_other = row.transport != m_identity;
  if (is_other || now_ns - row.last_ns > m_live.longest_pause_ns.load(std::memory_order_relaxed))
    row = {m_identity, now_ns, 0, is_other ? 0 : row.messages};
  row.last_ns = now_ns;
  if (row.messages < server_settings::most_messages) row.messages += 1;
  return std::max(row.messages, row.messages_before);
}

// Of the client's domain, if there is one.
std::uint32_t served_transport::choose_server(destination& target, locality_number to,
                                              std::uint32_t servers) const noexcept {
  const std::uint32_t turn = to + target.turn++ / m_live.consecutive.load(std::memory_order_relaxed);
  if (m_domain_of_cpu.empty()) return turn % servers;
  const auto cpu = static_cast<std::size_t>(std::max(0, sched_getcpu()));
  const std::uint32_t domain = cpu < m_domain_of_cpu.size() ? m_domain_of_cpu[cpu] : 0;
  if (domain >= m_servers_of_domain.size()) return turn % servers;
  const std::vector<std::uint32_t>& near = m_servers_of_domain[domain];
  const auto count = static_cast<std::uint32_t>(std::lower_bound(near.begin(), near.end(), servers) - near.begin());
  return count == 0 ? turn % servers : near[turn % count];
}

send_status served_transport::send_directly(const outgoing_message& message) noexcept {
  const send_status status = m_inner->try_send(message.to, message.parts);
  if (status == send_status::sent) message.target.sent_directly.add();
  if (status == send_status::gone) message.target.is_gone.store(true, std::memory_order_relaxed);
  return status;
}

send_status served_transport::send_beside_server(const outgoing_message& message) noexcept {
  if (!message.target.begin_sending()) return refuse_until(message.target, 0);
  const send_status status = send_directly(message);
  message.target.end_sending();
  return status;
}

// The server that has earlier messages for that locality must have this one, too, or the client waits for it.
send_status served_transport::send_in_order(const outgoing_message& message, std::uint32_t active) noexcept {
  destination& target = message.target;
  const std::uint32_t server = target.owner.load(std::memory_order_relaxed);
  if (server >= active || message.size > m_live.largest_bytes.load(std::memory_order_relaxed)) {
    target.held_for_order.add();
    return refuse_until(target, 0);
  }
  const std::uint32_t most = m_live.most_under_way.load(std::memory_order_relaxed);
  if (target.unsent.load(std::memory_order_relaxed) >= most) {
    target.held_for_flow.add();
    return refuse_until(target, most / 2);
  }
  if (give(message, server)) return send_status::sent;
  m_servers[server]->want_slot();
  return send_status::no_room;
}

send_status served_transport::send_without_order(const outgoing_message& message, std::uint32_t active) noexcept {
  const std::uint32_t servers = active == 0 ? 0 : servers_for(message.size, server_settings::most_messages, active);
  if (servers == 0) return send_beside_server(message);
  const bool may_send = m_live.clients_stay_active.load(std::memory_order_relaxed);
  const std::uint32_t most = m_live.most_under_way.load(std::memory_order_relaxed);
  if (message.target.unsent.load(std::memory_order_relaxed) >= most) {
    if (may_send) return send_beside_server(message);
    message.target.held_for_flow.add();
    return refuse_until(message.target, most / 2);
  }
  const std::uint32_t server = choose_server(message.target, message.to, servers);
  if (give(message, server)) return send_status::sent;
  if (may_send) return send_beside_server(message);
  m_servers[server]->want_slot();
  return send_status::no_room;
}

bool served_transport::give(const outgoing_message& message, std::uint32_t server) noexcept {
  message.target.owner.store(server, std::memory_order_relaxed);
  if (!m_servers[server]->give(message.to, message.parts, message.size)) return false;
  message.target.served.add();
  return true;
}

send_status served_transport::refuse_until(destination& target, std::uint32_t level) noexcept {
  if (target.want_at_most(level)) m_inner->wake();
  return send_status::no_room;
}

std::size_t served_transport::receive(message_sink& sink, std::size_t limit) noexcept {
  end_watcher watcher(sink, m_destinations);
  return m_inner->receive(watcher, limit);
}

void served_transport::wait(std::uint64_t ns) noexcept {
  m_inner->wait(ns);
  signal_room();  // it may have come back for this
}

void served_transport::signal_room() noexcept {
  const std::uint32_t started = m_started.load(std::memory_order_acquire);
  for (std::uint32_t server = 0; server < started; ++server) m_servers[server]->signal_room();
}

bool served_transport::has_unsent() const noexcept {
  return std::ranges::any_of(m_destinations,
                             [](const destination& target) { return target.unsent.load(std::memory_order_seq_cst) != 0; });
}

bool served_transport::drain(std::uint64_t ns) noexcept {
  const std::uint64_t begin_ns = base::monotonic_ns();
  while (has_unsent()) {
    const std::uint64_t passed_ns = base::monotonic_ns() - begin_ns;
    if (passed_ns >= ns) return false;
    const std::uint32_t key = m_drained.prepare();
    if (has_unsent())
      m_drained.wait(key, ns - passed_ns);
    else
      m_drained.cancel();
  }
  return true;
}

// What somebody still wants to send while this locality leaves, such as an acknowledgement, is refused or dropped: then
// servers have sent or dropped everything that was handed over.
bool served_transport::leave(std::uint64_t ns) noexcept {
  const std::uint64_t begin_ns = base::monotonic_ns();
  const auto rest_ns = [&] {
    const std::uint64_t passed_ns = base::monotonic_ns() - begin_ns;
    return passed_ns < ns ? ns - passed_ns : 0;
  };
  if (!drain(ns)) return false;
  for (destination& target : m_destinations) target.is_gone.store(true, std::memory_order_relaxed);
  if (!drain(rest_ns())) return false;
  return m_inner->leave(rest_ns());
}

}  // namespace trimtab::parcels
