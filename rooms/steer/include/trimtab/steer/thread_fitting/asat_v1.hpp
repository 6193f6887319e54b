// ASAT version 1 as published (Severance 1996): at the start of each region the team runs a dynamically scheduled loop of
// 1000 empty iterations. A member that has lost its CPU does few of them.
//
//   most - least iterations of a member > BAD_SPREAD: bad += 1, otherwise bad = 0
//   bad >= BAD_TRIG and threads > 1:                  threads -= 1
//   the load average, read every LOAD_TIME, leaves room for one more: threads += 1
//
// There is no evaluation timer, no barrier before the loop and no count of good evaluations. A drop does not reset `bad`.
// The loop is expensive: 6 ms without load and 150 ms with it, then. The members except the primary thread run at a lower
// priority (nice).
#pragma once

#include <cstdint>

#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v1_options {
  bool flag = true;         // on; the program may switch it off and on while it runs
  double bad_spread = 400;  // iterations: between 70 +- 30 without load and 900 +- 125 with it
  std::uint32_t bad_trig = 2;
  double load_time_s = 30;  // between two readings of the load average
  std::uint32_t nice = 5;   // added to the nice value of each member except the primary thread
};

class asat_v1 : public thread_fitting {
 public:
  explicit asat_v1(asat_v1_options options = {}) : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v1"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double now_s) override;

 private:
  std::optional<verdict> judge_iterations(const situation& now);
  std::optional<verdict> judge_load(const situation& now);
  std::optional<verdict> plan(const situation& now);

  asat_v1_options m_options;
  double m_evaluated = 0, m_load_read = 0;  // numbers of the latest evaluation and reading
  std::uint32_t m_bad = 0;
  knob_value m_planned_drop = 0;
};

}  // namespace trimtab::steer
