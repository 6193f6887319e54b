#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "trimtab/parcels/servers/saturation_curve.hpp"

namespace trimtab::parcels {
namespace {

constexpr double least_gain = 1.05;  // less may be noise, and a server costs a CPU

struct measured_gain {
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

// Of messages of that size, with at most so many servers.
std::vector<measured_gain> gains_of(const saturation_curve& curve, std::uint64_t bytes, std::uint32_t senders,
                                    std::uint32_t free_cpus) {
  std::vector<measured_gain> gains;
  for (const saturation_point& served : curve.points) {
    if (served.bytes != bytes || served.senders != senders || served.servers == 0 || served.servers > free_cpus) continue;
    for (const saturation_point& direct : curve.points)
      if (direct.servers == 0 && direct.senders == senders && direct.bytes == bytes && direct.in_flight == served.in_flight)
        gains.push_back({served.in_flight, served.servers, served.messages_per_s / direct.messages_per_s});
  }
  return gains;
}

// The sum of the logarithms of what these servers gain in rows of so many messages and more; 0: one is too slow, or none was
// measured.
double gain_of(const std::vector<measured_gain>& gains, std::uint32_t servers, std::uint32_t least_messages) {
  double sum = 0;
  for (const measured_gain& gain : gains) {
    if (gain.servers != servers || gain.in_flight < least_messages) continue;
    if (gain.ratio < least_gain) return 0;
    sum += std::log(gain.ratio);
  }
  return sum;
}

// The fewest servers of those that gain most.
served_sizes best_for(const std::vector<measured_gain>& gains, std::size_t largest_bytes) {
  constexpr double as_much = 1e-9;
  served_sizes best{largest_bytes, 0, 1};
  double most = 0;
  for (const measured_gain& candidate : gains) {
    const double gain = gain_of(gains, candidate.servers, candidate.in_flight);
    const bool is_cheaper = gain > most - as_much && most > 0 && candidate.servers < best.servers;
    if (gain <= most + as_much && !is_cheaper) continue;
    most = gain;
    best.servers = candidate.servers;
    best.least_messages = candidate.in_flight;
  }
  return best;
}

}  // namespace

server_settings choose_servers(const saturation_curve& curve, std::uint32_t free_cpus, std::uint32_t senders,
                               const server_settings& standard) {
  server_settings best = standard;
  best.servers = 0;
  if (curve.points.empty()) return best;
  std::set<std::uint64_t> sizes;
  for (const saturation_point& point : curve.points)
    if (point.bytes <= server_settings::most_served_bytes) sizes.insert(point.bytes);
  std::vector<served_sizes> selection;
  for (const std::uint64_t bytes : sizes) {
    // What lies between two sizes that were measured is taken for the larger one.
    const std::size_t largest = std::bit_ceil(static_cast<std::size_t>(bytes));
    if (!selection.empty() && selection.back().largest_bytes == largest) selection.pop_back();
    const std::vector<measured_gain> gains = gains_of(curve, bytes, nearest_senders(curve, senders), free_cpus);
    selection.push_back(best_for(gains, largest));
    best.servers = std::max(best.servers, selection.back().servers);
  }
  if (best.servers > 0) best.selection = std::move(selection);
  return best;
}

}  // namespace trimtab::parcels
