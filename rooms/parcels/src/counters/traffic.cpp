#include "trimtab/parcels/counters/traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/tasks/core/counters.hpp"

namespace trimtab::parcels {

namespace {

using all_counts = std::array<std::uint64_t, sizeof(traffic_counts) / sizeof(std::uint64_t)>;

template <std::size_t classes>
void copy_histogram(std::uint64_t (&into)[classes], const flow_histogram<classes>& from) noexcept {
  for (std::size_t i = 0; i < classes; ++i) into[i] = from.counts[i].get();
}

traffic_counts counts_of(const outbox& box) noexcept {
  const message_flow& flow = box.messages();
  traffic_counts counts;
  counts.messages = flow.messages.get();
  counts.message_bytes = flow.bytes.get();
  counts.acknowledgements = flow.bare_acknowledgements.get();
  for (std::size_t i = 0; i < flush_reasons; ++i) counts.flushes[i] = box.flushes(static_cast<flush_reason>(i));
  copy_histogram(counts.ages, flow.ages);
  counts.adder_send = flow.adder_send_ticks.get();
  counts.task_send = flow.task_send_ticks.get();
  counts.send = flow.send_ticks.get();
  counts.queued_wait = flow.queued_wait_ticks.get();
  return counts;
}

action_traffic sent_traffic(locality_number other, const action& what, const parcel_flow& flow) {
  action_traffic traffic{other, what.name, what.function, {}};
  traffic.counts.sent = flow.parcels.get();
  traffic.counts.sent_bytes = flow.bytes.get();
  copy_histogram(traffic.counts.sizes, flow.sizes);
  return traffic;
}

action_traffic received_traffic(const arrival_flow& flow) {
  action_traffic traffic{flow.from, name_of_action(*flow.kind, flow.function), flow.function, {}};
  traffic.counts.received = flow.parcels.get();
  traffic.counts.received_bytes = flow.bytes.get();
  copy_histogram(traffic.counts.intervals, flow.intervals);
  return traffic;
}

void add_own(traffic_counts& counts, dispatcher& messages) {
  for (const auto* const thread : messages.traffic().threads()) {
    const background_counts& background = thread->counts;
    counts.messages_received += background.messages.get();
    counts.message_bytes_received += background.bytes.get();
    counts.handled += background.handled.get();
    counts.receive += background.receive_ticks.get();
    counts.look_after += background.send_ticks.get();
    counts.within_send += background.within_send_ticks.get();
  }
  counts.refused = messages.refused();
  counts.packed = messages.packed_ticks();
  counts.barrier_wait = messages.collective_wait_ticks(collective_operation::barrier);
  counts.broadcast_wait = messages.collective_wait_ticks(collective_operation::broadcast);
  counts.reduce_wait = messages.collective_wait_ticks(collective_operation::reduce);
  counts.packed_timed = messages.packed_timed();
}

traffic_counts server_traffic(const server_counts& server) noexcept {
  traffic_counts counts;
  counts.server_messages = server.messages;
  counts.server_bytes = server.bytes;
  counts.server_dropped = server.dropped;
  counts.server_full_queues = server.full_queues;
  counts.server_refusals = server.refusals;
  counts.server_sleeps = server.sleeps;
  counts.server_busy = server.busy_ticks;
  counts.server_life = server.life_ticks;
  return counts;
}

}  // namespace

void traffic_counts::add(const traffic_counts& other) noexcept {
  auto sums = std::bit_cast<all_counts>(*this);
  const auto added = std::bit_cast<all_counts>(other);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += added[i];
  *this = std::bit_cast<traffic_counts>(sums);
}

void traffic_counts::subtract(const traffic_counts& other) noexcept {
  auto rest = std::bit_cast<all_counts>(*this);
  const auto subtracted = std::bit_cast<all_counts>(other);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= std::min(rest[i], subtracted[i]);
  *this = std::bit_cast<traffic_counts>(rest);
}

traffic_snapshot::traffic_snapshot(job& owner)
    : at(base::now()),
      ns_per_tick(tasks::runtime::ns_per_tick()),
      number(owner.here().number()),
      size(owner.size()),
      destinations(owner.size()) {
  own.busy = tasks::snapshot(owner.home()).total.busy;
  if (owner.messages() == nullptr) return;
  dispatcher& messages = *owner.messages();
  add_own(own, messages);
  if (owner.servers() != nullptr) add_servers(owner.servers()->counts());
  const action_registry& registry = action_registry::of_process();
  for (locality_number other = 0; other < size; ++other) {
    if (other == number) continue;
    const outbox& box = std::as_const(messages.traffic()).to(other);
    destinations[other] = counts_of(box);
    for (std::uint32_t i = 1; i <= registry.size(); ++i)
      if (const parcel_flow* const flow = box.parcels_of(i))
        actions.push_back(sent_traffic(other, *registry.find(i), *flow));
  }
  for (const arrival_flow* const flow : messages.arrivals()) actions.push_back(received_traffic(*flow));
}

traffic_counts traffic_snapshot::sum(std::int64_t to, const std::string& action) const noexcept {
  traffic_counts total;
  for (const action_traffic& traffic : actions)
    if ((to == all || to == traffic.other) && (action.empty() || action == traffic.action)) total.add(traffic.counts);
  if (!action.empty()) return total;
  for (std::size_t other = 0; other < destinations.size(); ++other)
    if (to == all || to == static_cast<std::int64_t>(other)) total.add(destinations[other]);
  if (to != all) return total;
  for (const traffic_counts& server : servers) total.add(server);
  total.add(own);
  return total;
}

traffic_counts traffic_snapshot::of_server(std::int64_t server) const noexcept {
  const auto at_number = static_cast<std::size_t>(server);
  return at_number < servers.size() ? servers[at_number] : traffic_counts{};
}

void traffic_snapshot::add_servers(const injection_counts& counts) {
  own.handed_over = counts.served;
  own.sent_directly = counts.sent_directly;
  own.held_for_order = counts.held_for_order;
  own.held_for_flow = counts.held_for_flow;
  for (const server_counts& server : counts.servers) servers.push_back(server_traffic(server));
}

}  // namespace trimtab::parcels
