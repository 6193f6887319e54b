// ASAT version 2 as published (Severance 1996), for comparison: the timed barrier. A passage takes 1 us today (20-90 us
// then) when every member has a CPU, and at least a slice of the scheduler's when one has not.
//
//   passage > BAD_TIME: bad += 1, good = 0; otherwise good += 1, bad = 0
//   bad >= BAD_TRIG:    one thread less
//   good >= GOOD_TRIG:  a barrier with one more ("dip a toe in"); when that is good, too, one thread more
//
// The barrier of a dip is a knob (figures.hpp), so it comes at the next evaluation. A subject that has no such knob gets
// the thread itself for one evaluation. What is not said there: BAD_TRIG counts anew after a thread less, and so does
// GOOD_TRIG after a dip; "a long GOOD_TRIG" is called a remedy, so it must be the time between tries.
#pragma once

#include <cstdint>

#include "trimtab/steer/fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v2_options {
  bool flag = true;          // on; the program may say otherwise while it runs
  double eval_time_s = 0.5;  // least time between evaluations: the adapter's, which measures; compiler's version: 1
  double bad_time_s = 1e-3;
  std::uint32_t bad_trig = 2;    // compiler's version: 1
  std::uint32_t good_trig = 15;  // compiler's version: 10
};

class asat_v2 : public thread_fitting {
 public:
  explicit asat_v2(asat_v2_options options = {}) : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v2"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double) override { m_bad = m_good = 0, m_dips = 0; }

 private:
  std::optional<verdict> after_dip(const situation& now, bool is_bad, knob_value tried) const;

  asat_v2_options m_options;
  double m_evaluated = 0;
  std::uint32_t m_bad = 0, m_good = 0;
  knob_value m_dips = 0;  // members of the barrier that was asked for; 0: none
};

}  // namespace trimtab::steer
