// Prints a job's counters of messages to standard error, as a runtime prints its own (tasks::runtime_options), and by the
// same options. A thread of its own, and only if they are printed more often than at the end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/parcels/counters/traffic.hpp"

namespace trimtab::parcels {

class counter_printer {
 public:
  // Removes those of `paths` that name counters of messages, and returns them.
  static std::vector<std::string> take_paths(std::vector<std::string>& paths);
  // Throws std::invalid_argument if there is no such counter in a job of that size with so many servers.
  static void check(const std::vector<std::string>& paths, locality_number number, std::uint32_t size, std::size_t servers);

  // period_ms: 0 prints at the end only.
  counter_printer(job& owner, std::vector<std::string> paths, std::uint32_t period_ms);
  // Prints the last time. The job's exchange must still be there.
  ~counter_printer();
  counter_printer(const counter_printer&) = delete;
  counter_printer& operator=(const counter_printer&) = delete;

 private:
  void watch(std::uint32_t period_ms);
  void print() const;

  job& m_job;
  const std::vector<std::string> m_paths;
  const base::ticks m_begin;
  std::mutex m_lock;
  std::condition_variable m_ends;
  bool m_is_ending = false;
  std::thread m_thread;
};

}  // namespace trimtab::parcels
