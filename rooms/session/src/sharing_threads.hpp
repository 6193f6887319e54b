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

// Of threads that run; there may be others. stays: one that is not moved, the program's first: what a thread starts while it
// is bound to one CPU, programs and threads, would be so for good.
inline sharing_threads find_sharing(const std::vector<placed_thread>& running, const base::cpu_mask& allowed,
                                    std::uint32_t stays) {
  std::vector<std::uint32_t> who(base::cpu_mask::most);  // the first on each CPU; 0: none
  sharing_threads found;
  std::optional<std::uint32_t> second;
  for (const placed_thread& each : running) {
    if (each.cpu >= who.size()) return {};
    if (who[each.cpu] != 0) {
      found.count += 1;
      second = each.tid != stays ? each.tid : who[each.cpu];
    } else {
      who[each.cpu] = each.tid;
    }
  }
  for (std::uint32_t cpu = 0; second && cpu < who.size(); ++cpu) {
    if (!allowed.has(cpu) || who[cpu] != 0) continue;
    found.move = thread_move{*second, cpu};
    return found;
  }
  return {};
}

}  // namespace trimtab::session
