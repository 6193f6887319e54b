// ASAT version 1 as published (Severance 1996), for comparison: 1000 empty iterations, scheduled dynamically; when a thread
// has lost its CPU the others do its part. Dear: 6 ms on an idle machine, 150 ms on a loaded one. One thread less after so
// many bad evaluations in a row, one more after so many good ones.
#pragma once

#include <cstdint>

#include "trimtab/steer/fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v1_options {
  bool flag = true;          // on; the program may say otherwise while it runs
  double eval_time_s = 0.5;  // least time between evaluations: the adapter's, which measures
  double bad_spread = 400;   // iterations: between 70 +- 30 without load and 900 +- 125 with it
  std::uint32_t bad_trig = 2;
  std::uint32_t good_trig = 15;
};

class asat_v1 : public thread_fitting {
 public:
  explicit asat_v1(asat_v1_options options = {}) : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v1"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double) override { m_bad = m_good = 0; }

 private:
  asat_v1_options m_options;
  double m_evaluated = 0;
  std::uint32_t m_bad = 0, m_good = 0;
};

}  // namespace trimtab::steer
