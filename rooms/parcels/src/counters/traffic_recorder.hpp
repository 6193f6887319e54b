// Under `trimtab run`: writes a job's traffic into the run directory now and then, as samples of counters. These are mapped
// memory, so what was written stays when the process is killed. A thread of its own, and only where something is recorded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "trimtab/parcels/counters/traffic.hpp"

namespace trimtab::parcels {

class traffic_recorder {
 public:
  // nullptr: the process is not watched, or the job has one locality only.
  static std::unique_ptr<traffic_recorder> open_if_watched(job& owner);
  explicit traffic_recorder(job& owner);
  // Writes the last time. The job's exchange must still be there.
  ~traffic_recorder();
  // From any thread. What was sent before is written first.
  void begin_phase(std::string_view name);
  traffic_recorder(const traffic_recorder&) = delete;
  traffic_recorder& operator=(const traffic_recorder&) = delete;

 private:
  struct series {
    std::uint32_t counter = 0;
    double last = 0;
  };
  void watch();
  void record();
  void record_totals(const traffic_snapshot& counts);
  void record_destination(const traffic_snapshot& counts, locality_number other);
  void record_action(const traffic_snapshot& counts, const action_traffic& traffic);
  enum class zero : std::uint8_t { is_nothing, counts };
  // Writes it if it has changed; a counter begins to exist when it is not 0, or with 0 where that counts.
  void set(const std::string& path, const char* unit, double value, zero meaning = zero::is_nothing);

  job& m_job;
  // What the lock guards while the thread runs.
  std::map<std::string, series> m_series;
  std::map<std::string, std::uint64_t> m_phases;  // how often each has begun
  std::mutex m_lock;
  std::condition_variable m_ends;
  bool m_is_ending = false;
  std::thread m_thread;
};

}  // namespace trimtab::parcels
