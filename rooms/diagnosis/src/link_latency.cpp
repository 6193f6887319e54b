#include "trimtab/diagnosis/link_latency.hpp"

#include <algorithm>
#include <cmath>

namespace trimtab::diagnosis {

void write_latencies(const link_moments& links, std::span<std::int64_t> to) {
  for (std::size_t at = 0; at < links.count; ++at) {
    to[at] = links.latency_ns[at];
    if (links.piece[at] < 0) continue;
    const auto piece = static_cast<std::size_t>(links.piece[at]);
    const auto first = static_cast<std::size_t>(links.first_piece[links.from[at]]);
    const double recorded_ns = static_cast<double>(std::max<std::int64_t>(links.recorded_ns[piece], 1));
    const double share = static_cast<double>(links.within_ns[at]) / recorded_ns;
    const double length_ns = links.before_ns[piece + 1] - links.before_ns[piece];
    const double moment_ns = links.before_ns[piece] - links.before_ns[first] + share * length_ns;
    to[at] += static_cast<std::int64_t>(std::nearbyint(moment_ns));
  }
}

}  // namespace trimtab::diagnosis
