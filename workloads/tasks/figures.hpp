// What a part of a run cost the runtime, from its counters: the formulas of task runtimes' grain-size studies.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "trimtab/tasks.hpp"

namespace workload {

// Sums over all workers, since the runtime's start.
struct totals {
  double busy_ticks = 0;
  double timed_ticks = 0;
  double gap_ticks = 0;
  double activations = 0;  // by the workers' loops
  double in_place = 0;
  double accesses = 0;
  double misses = 0;
  double stolen = 0;
  double suspended = 0;

  static totals of(trimtab::runtime& from) {
    totals sum;
    for (std::uint32_t each = 0; each < from.workers(); ++each) {
      const auto& counters = from.counters(each);
      const auto& queues = from.queue_counters(each);
      const auto value = [](const trimtab::tasks::tally& tally) { return static_cast<double>(tally.get()); };
      sum.busy_ticks += value(counters.busy_ticks);
      sum.timed_ticks += value(counters.timed_ticks);
      sum.gap_ticks += value(counters.gap_ticks);
      sum.activations += value(counters.started) + value(counters.resumed);
      sum.in_place += value(counters.in_place);
      sum.accesses += value(queues.accesses);
      sum.misses += value(queues.misses);
      sum.stolen += value(queues.stolen);
      sum.suspended += value(counters.suspended);
    }
    return sum;
  }
};

// One part of a run: from its making to stop().
class figures {
 public:
  explicit figures(trimtab::runtime& of) : m_of(of) {
    settle();
    m_before = totals::of(m_of);
    m_began = std::chrono::steady_clock::now();
  }

  void stop() {
    m_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
    settle();
    m_after = totals::of(m_of);
  }

  double time_s() const noexcept { return m_time_s; }

  // name=value, a line each.
  void print() const {
    const auto part = [this](double totals::* which) { return m_after.*which - m_before.*which; };
    const double workers = m_of.workers(), total_s = workers * m_time_s;
    // Workers tell when they begin and cease to be busy; of that, what is not task is estimated from the activations
    // that were timed, with the gaps before them.
    const double timed = part(&totals::timed_ticks), gaps = part(&totals::gap_ticks);
    const double busy_s = part(&totals::busy_ticks) * trimtab::runtime::ns_per_tick() * 1e-9;
    const double work_s = timed > 0 ? busy_s * timed / (timed + gaps) : busy_s;
    const double idle_rate = work_s < total_s ? 1 - work_s / total_s : 0;
    const double phases = part(&totals::activations) + part(&totals::in_place);
    std::printf("time_s=%.9g\nworkers=%.0f\npolicy=%s\n", m_time_s, workers, trimtab::tasks::name_of(m_of.policy()));
    std::printf("phases=%.0f\nidle_rate=%.6g\noverhead_s=%.9g\n", phases, idle_rate, idle_rate * m_time_s);
    if (phases > 0) {
      std::printf("phase_duration_us=%.6g\n", total_s / phases * 1e6);
      std::printf("task_length_us=%.6g\n", (1 - idle_rate) * total_s / phases * 1e6);
    }
    std::printf("pending_accesses=%.0f\npending_misses=%.0f\n", part(&totals::accesses), part(&totals::misses));
    std::printf("stolen=%.0f\nsuspended=%.0f\n", part(&totals::stolen), part(&totals::suspended));
  }

 private:
  // A worker adds up its time when it ceases to be busy, which is just after the last task told that it is done.
  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

  trimtab::runtime& m_of;
  totals m_before, m_after;
  std::chrono::steady_clock::time_point m_began;
  double m_time_s = 0;
};

}  // namespace workload
