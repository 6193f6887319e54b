// The cap of workers by hill climbing on the mean length of the queues, as published for APEX with HPX (Huck et al. 2015):
// a stencil of 48 workers settled at 13, where 12 were best. A rule: it does not prove that a cap is faster, and changes it
// at once; the tuner is the one that proves.
//
// Never more workers than CPUs (figure `cpus`, where it is told). Among those, longer queues are workers that are missing.
// With more workers than CPUs queues get shorter and shorter while the program gets slower: workers without a CPU hold the
// tasks that others wait for, so that nothing is ready (docs/studies/queue-length.md). The publication had a CPU for
// each.
//
// From all workers down, first far, then near; of caps whose queues are as long the smaller one. It begins anew when the
// queues' length has changed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

struct queue_length_options {
  double period_s = 0.1;            // of work at each cap
  double least_change = 0.02;       // shares below are none
  double drift = 0.5;               // share of the settled length
  std::uint32_t drift_periods = 5;  // in turn
  double least_work = 0.25;         // of a snapshot's time, in which somebody must have worked
};

// For subjects with a knob of that name.
class queue_length_climb : public policy {
 public:
  explicit queue_length_climb(queue_length_options options = {}, std::string_view knob = "workers")
      : m_options(options), m_knob(knob) {}
  std::string_view name() const noexcept override { return "queue-length"; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

  bool is_settled() const noexcept { return m_phase == phase::settled; }

 private:
  enum class phase { begin, climbing, settled };
  void period(const subject_view& subject, std::uint32_t place, double length, std::vector<proposal>& out);
  void begin(const subject_view& subject, std::uint32_t place, double length, std::vector<proposal>& out);
  void next(const subject_view& subject, std::uint32_t place, std::vector<proposal>& out);
  void go(const subject_view& subject, std::uint32_t place, std::size_t to, std::string reason, std::vector<proposal>& out);

  queue_length_options m_options;
  std::string m_knob;
  phase m_phase = phase::begin;
  double m_time_s = -1, m_worked_s = 0, m_sum = 0;
  bool m_skips = false;    // the first snapshot after a change is of the cap before
  std::size_t m_last = 0;  // indices in the domain: the most workers that are tried
  std::size_t m_best = 0;
  std::size_t m_tried = 0;
  double m_best_length = 0;
  std::size_t m_step = 1;
  int m_direction = -1;
  std::uint32_t m_failures = 0;  // at this step
  std::uint32_t m_drifted = 0;
};

}  // namespace trimtab::steer
