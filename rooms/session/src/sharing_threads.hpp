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
  std::vector<std::uint32_t> threads(base::cpu_mask::most);  // the first on each CPU; 0: none
  sharing_threads sharing;
  std::optional<std::uint32_t> second;
  for (const placed_thread& thread : running) {
    if (thread.cpu >= threads.size()) return {};
    if (threads[thread.cpu] != 0) {
      sharing.count += 1;
      second = thread.tid != stays ? thread.tid : threads[thread.cpu];
    } else {
      threads[thread.cpu] = thread.tid;
    }
  }
  for (std::uint32_t cpu = 0; second && cpu < threads.size(); ++cpu) {
    if (!allowed.has(cpu) || threads[cpu] != 0) continue;
    sharing.move = thread_move{*second, cpu};
    return sharing;
  }
  return {};
}

}  // namespace trimtab::session
