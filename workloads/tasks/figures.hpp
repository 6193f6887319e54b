// What a part of a run cost the runtime, by its counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "../measured.h"
#include "trimtab/tasks.hpp"
#include "trimtab/tasks/core/counters.hpp"

namespace workload {

// Of one part of a run: from its making to stop().
class figures {
 public:
  explicit figures(trimtab::runtime& rt) : m_runtime(rt), m_first(rt), m_began(std::chrono::steady_clock::now()) {}

  void stop() {
    m_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
    m_last = trimtab::tasks::snapshot(m_runtime);
  }

  double time_s() const noexcept { return m_time_s; }

  // name=value, a line each.
  void print() const {
    const double idle_rate = value("/threads/idle-rate"), phases = value("/threads/count/cumulative-phases");
    std::printf("time_s=%.9g\nworkers=%u\npolicy=%s\n", m_time_s, m_runtime.workers(),
                trimtab::tasks::name_of(m_runtime.policy()));
    std::printf("phases=%.0f\nidle_rate=%.6g\noverhead_s=%.9g\n", phases, idle_rate, idle_rate * m_time_s);
    if (phases > 0) {
      // As grain-size studies define them, by wall time.
      const double duration_us = m_time_s * m_runtime.workers() / phases * 1e6;
      std::printf("phase_duration_us=%.9g\ntask_length_us=%.9g\n", duration_us, (1 - idle_rate) * duration_us);
    }
    std::printf("pending_accesses=%.0f\npending_misses=%.0f\n", value("/threads/count/pending-accesses"),
                value("/threads/count/pending-misses"));
    std::printf("stolen=%.0f\nsuspensions=%.0f\n", value("/threads/count/stolen-from-pending"),
                value("/threads/count/suspensions"));
  }

 private:
  double value(const char* path) const {
    return trimtab::tasks::find_counters(m_runtime, path).front().value(m_last, m_first);
  }

  trimtab::runtime& m_runtime;
  trimtab::tasks::snapshot m_first, m_last;
  std::chrono::steady_clock::time_point m_began;
  double m_time_s = 0;
};

// Does it again and again, for so many ms after the first time, and prints what one time took. How often it did it.
template <class function>
std::int64_t measured(std::int64_t ms, function&& repetition) {
  static measurements results;
  const auto current = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  std::int64_t count = 1;
  repetition();
  begin_measuring(&results, 1e-3 * static_cast<double>(ms), current());
  do {
    repetition();
    ++count;
  } while (measure_step(&results, current()));
  print_measurements(&results);
  return count;
}

}  // namespace workload
