// A variant of ASAT version 2 (asat_v2.hpp): the counter of bad passages starts again after each drop, that of good ones
// after each dip, so that GOOD_TRIG is the time between two tries. The barrier of a dip is passed at the next evaluation; a
// subject that has no such barrier gets the thread itself for one evaluation. The team keeps its priority.
#pragma once

#include <cstdint>

#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v2_reset_options {
  bool flag = true;          // on; the program may say otherwise while it runs
  double eval_time_s = 0.5;  // least time between evaluations: the adapter's, which measures; compiler's version: 1
  double bad_time_s = 1e-3;
  std::uint32_t bad_trig = 2;    // compiler's version: 1
  std::uint32_t good_trig = 15;  // compiler's version: 10
};

class asat_v2_reset : public thread_fitting {
 public:
  explicit asat_v2_reset(asat_v2_reset_options options = {})
      : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v2-reset"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double) override { m_bad = m_good = 0, m_dips = 0; }

 private:
  std::optional<verdict> after_dip(const situation& now, bool is_bad, knob_value tried) const;

  asat_v2_reset_options m_options;
  double m_evaluated = 0;
  std::uint32_t m_bad = 0, m_good = 0;
  knob_value m_dips = 0;  // members of the barrier that was asked for; 0: none
};

}  // namespace trimtab::steer
