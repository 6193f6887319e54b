// Which threads share a CPU while another one has none of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trimtab/base/topology.hpp"

namespace trimtab::session {

struct placed_thread {
  std::uint32_t tid;
  std::uint32_t cpu;
};
struct thread_move {
  std::uint32_t tid;
  std::uint32_t to;  // CPU
  bool operator==(const thread_move&) const = default;
};
struct sharing_threads {
  unsigned count = 0;               // but for the first on each CPU
  std::optional<thread_move> move;  // of one of them, to a CPU without any; nothing: there is none
};

// Of threads that run; there may be others.
inline sharing_threads find_sharing(const std::vector<placed_thread>& running, const base::cpu_mask& allowed) {
  std::vector<bool> has_one(base::cpu_mask::most);
  sharing_threads found;
  std::optional<std::uint32_t> second;
  for (const placed_thread& each : running) {
    if (each.cpu >= has_one.size()) return {};
    if (has_one[each.cpu]) {
      found.count += 1;
      second = each.tid;
    }
    has_one[each.cpu] = true;
  }
  for (std::uint32_t cpu = 0; second && cpu < has_one.size(); ++cpu) {
    if (!allowed.has(cpu) || has_one[cpu]) continue;
    found.move = thread_move{*second, cpu};
    return found;
  }
  return {};
}

}  // namespace trimtab::session
