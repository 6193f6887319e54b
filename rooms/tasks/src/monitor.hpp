// Reads a runtime's counters now and then: to print those that were asked for, and into the run directory where the
// process is watched. A thread of its own, and only if there is anything to do.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/tasks/core/counters.hpp"

namespace trimtab::tasks {

class monitor {
 public:
  // print: paths as of find_counters, which throws; print_ms: 0 prints at the end only.
  monitor(const runtime& owner, const std::vector<std::string>& print, std::uint32_t print_ms, bool is_recorded);
  // Prints the last time. The workers must still be there.
  ~monitor();
  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

 private:
  struct recorded {
    counter item;
    std::uint32_t number;
  };
  void watch();
  void print(const snapshot& counts) const;
  void record(const snapshot& counts) const;

  const runtime& m_runtime;
  std::vector<counter> m_printed;
  std::uint32_t m_print_ms;
  std::vector<recorded> m_recorded;
  base::ticks m_begin;
  std::mutex m_lock;
  std::condition_variable m_ends;
  bool m_is_ending = false;
  std::thread m_thread;
};

}  // namespace trimtab::tasks
