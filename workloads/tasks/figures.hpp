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
  explicit figures(trimtab::runtime& of) : m_of(of), m_before(of), m_began(std::chrono::steady_clock::now()) {}

  void stop() {
    m_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
    m_after = trimtab::tasks::snapshot(m_of);
  }

  double time_s() const noexcept { return m_time_s; }

  // name=value, a line each.
  void print() const {
    const double idle_rate = value("/threads/idle-rate"), phases = value("/threads/count/cumulative-phases");
    std::printf("time_s=%.9g\nworkers=%u\npolicy=%s\n", m_time_s, m_of.workers(), trimtab::tasks::name_of(m_of.policy()));
    std::printf("phases=%.0f\nidle_rate=%.6g\noverhead_s=%.9g\n", phases, idle_rate, idle_rate * m_time_s);
    if (phases > 0) {
      // As grain-size studies define them, by wall time.
      const double duration_us = m_time_s * m_of.workers() / phases * 1e6;
      std::printf("phase_duration_us=%.9g\ntask_length_us=%.9g\n", duration_us, (1 - idle_rate) * duration_us);
    }
    std::printf("pending_accesses=%.0f\npending_misses=%.0f\n", value("/threads/count/pending-accesses"),
                value("/threads/count/pending-misses"));
    std::printf("stolen=%.0f\nsuspensions=%.0f\n", value("/threads/count/stolen-from-pending"),
                value("/threads/count/suspensions"));
  }

 private:
  double value(const char* path) const { return trimtab::tasks::find_counters(m_of, path).front().value(m_after, m_before); }

  trimtab::runtime& m_of;
  trimtab::tasks::snapshot m_before, m_after;
  std::chrono::steady_clock::time_point m_began;
  double m_time_s = 0;
};

// Does it again and again, for so many ms after the first time, and prints what one time took. How often it did it.
template <class function>
std::int64_t measured(std::int64_t ms, function&& once) {
  static measurements all;
  const auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  std::int64_t count = 1;
  once();
  begin_measuring(&all, 1e-3 * static_cast<double>(ms), now());
  do {
    once();
    ++count;
  } while (measure_step(&all, now()));
  print_measurements(&all);
  return count;
}

}  // namespace workload
