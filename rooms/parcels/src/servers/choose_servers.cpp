#include <algorithm>
#include <cmath>
#include <set>

#include "trimtab/parcels/servers/saturation_curve.hpp"

namespace trimtab::parcels {
namespace {

constexpr double least_gain = 1.05;  // less may be noise, and a server costs a CPU

struct measured_gain {
  std::uint64_t bytes;
  std::uint32_t in_flight, servers;
  double ratio;  // of the rate with servers to that without
};

// The highest number of senders up to `limit` that was measured, else the lowest.
std::uint32_t nearest_senders(const saturation_curve& curve, std::uint32_t limit) {
  std::set<std::uint32_t> measured;
  for (const saturation_point& point : curve.points) measured.insert(point.senders);
  const auto above = measured.upper_bound(limit);
  return above == measured.begin() ? *above : *std::prev(above);
}

std::vector<measured_gain> gains_of(const saturation_curve& curve, std::uint32_t senders, std::uint32_t free_cpus) {
  std::vector<measured_gain> gains;
  for (const saturation_point& served : curve.points) {
    if (served.senders != senders || served.servers == 0 || served.servers > free_cpus) continue;
    for (const saturation_point& direct : curve.points)
      if (direct.servers == 0 && direct.senders == senders && direct.bytes == served.bytes &&
          direct.in_flight == served.in_flight)
        gains.push_back({served.bytes, served.in_flight, served.servers, served.messages_per_s / direct.messages_per_s});
  }
  return gains;
}

// The sum of the logarithms of what the selection gains; 0: one of its measurements is too slow, or there is none.
double gain_of(const std::vector<measured_gain>& gains, const server_settings& selection) {
  double sum = 0;
  for (const measured_gain& gain : gains) {
    const bool is_selected = gain.servers == selection.servers && gain.bytes >= selection.smallest_served_bytes &&
                             gain.bytes <= selection.largest_served_bytes && gain.in_flight >= selection.least_messages;
    if (!is_selected) continue;
    if (gain.ratio < least_gain) return 0;
    sum += std::log(gain.ratio);
  }
  return sum;
}

// Each selection that begins and ends at measurements with this number of servers.
std::vector<server_settings> selections_of(const std::vector<measured_gain>& gains, const server_settings& standard) {
  std::vector<server_settings> selections;
  for (const measured_gain& first : gains)
    for (const measured_gain& last : gains) {
      if (first.servers != last.servers || first.bytes > last.bytes) continue;
      server_settings selection = standard;
      selection.servers = first.servers;
      selection.smallest_served_bytes = first.bytes;
      selection.largest_served_bytes = last.bytes;
      selection.least_messages = first.in_flight;
      if (problem_of(selection).empty()) selections.push_back(selection);
    }
  return selections;
}

}  // namespace

server_settings choose_servers(const saturation_curve& curve, std::uint32_t free_cpus, std::uint32_t senders,
                               const server_settings& standard) {
  server_settings best = standard;
  best.servers = 0;
  if (curve.points.empty()) return best;
  const std::vector<measured_gain> gains = gains_of(curve, nearest_senders(curve, senders), free_cpus);
  double most = 0;
  for (const server_settings& selection : selections_of(gains, standard)) {
    const double gain = gain_of(gains, selection);
    if (gain > most || (gain == most && gain > 0 && selection.servers < best.servers)) {
      most = gain;
      best = selection;
    }
  }
  return best;
}

}  // namespace trimtab::parcels
