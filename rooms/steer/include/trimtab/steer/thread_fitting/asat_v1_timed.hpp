// A variant of ASAT version 1 (asat_v1.hpp): it measures at most once per evaluation time, the 1000 iterations begin after a
// barrier, so that the start of the team is not part of what is measured, and a thread is added after a number of good
// evaluations in a row. The team keeps its priority. Both counters start again after each change.
#pragma once

#include <cstdint>

#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v1_timed_options {
  bool flag = true;          // on; the program may say otherwise while it runs
  double eval_time_s = 0.5;  // least time between evaluations: the adapter's, which measures
  double bad_spread = 400;   // iterations: between 70 +- 30 without load and 900 +- 125 with it
  std::uint32_t bad_trig = 2;
  std::uint32_t good_trig = 15;
};

class asat_v1_timed : public thread_fitting {
 public:
  explicit asat_v1_timed(asat_v1_timed_options options = {})
      : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v1-timed"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double) override { m_bad = m_good = 0; }

 private:
  asat_v1_timed_options m_options;
  double m_evaluated = 0;
  std::uint32_t m_bad = 0, m_good = 0;
};

}  // namespace trimtab::steer
