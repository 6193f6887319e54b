// What `fit` has to know of the machine (steer/thread_fitting/figures.hpp), of a runtime's workers: a window every 0.15 s.
#pragma once

#include <vector>

#include "trimtab/observe/cpu_watch.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::task_steering {

class cap_figures {
 public:
  // With the registry of processes that fit their threads. While the runtime begins: the CPUs of the process are those of
  // the calling thread.
  cap_figures();

  // On the steering thread. workers: all; cap: that may work.
  void add_to(std::vector<steer::figure>& figures, std::uint32_t workers, std::uint32_t cap);

 private:
  observe::cpu_watch m_watch;
  std::uint64_t m_delay_ns = 0;
  std::uint64_t m_windows = 0;
  std::uint32_t m_cap = 0;  // of the window under way
  std::vector<steer::figure> m_latest;
};

}  // namespace trimtab::task_steering
