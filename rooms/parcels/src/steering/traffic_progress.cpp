#include "steering/traffic_progress.hpp"

namespace trimtab::parcels {

namespace {

// Epochs with fewer parcels say nothing.
constexpr std::uint64_t least_parcels = 64;
// A program that spends a smaller share of its time on messages has nothing to gain.
constexpr double least_share = 0.02;

}  // namespace

traffic_progress progress_of(const exchange& traffic, double ns_per_tick) {
  traffic_progress done;
  std::uint64_t ticks = 0, queued_wait = 0, handled = 0;
  for (locality_number other = 0; other < traffic.size(); ++other) {
    if (other == traffic.number()) continue;
    const outbox& box = traffic.to(other);
    done.sent += box.program_parcels();
    for (std::uint32_t kind = 0; kind < traffic_kinds; ++kind) done.sent_of_kind[kind] += box.program_parcels(kind);
    done.messages += box.messages().messages.get();
    ticks += box.messages().adder_send_ticks.get();
    queued_wait += box.messages().queued_wait_ticks.get();
  }
  for (const exchange::thread_counts* const thread : traffic.threads()) {
    handled += thread->counts.handled.get();
    ticks += thread->counts.receive_ticks.get() + thread->counts.send_ticks.get();
  }
  done.parcels = done.sent + handled;
  done.overhead_s = static_cast<double>(ticks) * ns_per_tick * 1e-9;
  done.queued_wait_s = static_cast<double>(queued_wait) * ns_per_tick * 1e-9;
  return done;
}

std::vector<steer::figure> figures_between(const traffic_progress& before, const traffic_progress& after, double seconds) {
  const double messages = static_cast<double>(after.messages - before.messages);
  std::vector<steer::figure> figures{
      {"network-overhead", (after.overhead_s - before.overhead_s) / seconds},
      {"queued-wait", (after.queued_wait_s - before.queued_wait_s) / seconds},
      {"parcels-per-second", static_cast<double>(after.parcels - before.parcels) / seconds},
  };
  if (messages > 0) figures.push_back({"messages-per-second", messages / seconds});
  return figures;
}

bool is_measurement(std::uint64_t parcels, double seconds) noexcept { return parcels >= least_parcels && seconds > 0; }

bool has_something_to_gain(const std::vector<steer::figure>& figures) noexcept {
  // The overhead and the time in which workers waited for queues.
  return figures[0].value + figures[1].value >= least_share;
}

}  // namespace trimtab::parcels
