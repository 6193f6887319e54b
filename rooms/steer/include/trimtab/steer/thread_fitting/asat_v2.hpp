// ASAT version 2 as published (Severance 1996): the timed barrier. A passage takes 1 us today (20-90 us then) when every
// member has a CPU, and at least a time slice when one has not.
//
//   at the start of each region:
//     if now - last evaluation < EVAL_TIME: nothing
//     t = timed barrier of the team
//     t > BAD_TIME: bad += 1, good = 0; otherwise good += 1, bad = 0
//     bad >= BAD_TRIG and threads > 1: threads -= 1
//     good >= GOOD_TRIG and threads < MAX, and a timed barrier with one more ("dip a toe in") < BAD_TIME: threads += 1
//
// A drop or a dip resets no counter: each further bad evaluation drops another thread, each further good one dips again. The
// publication prints the last comparison with EVAL_TIME, which nearly every barrier passes; `dip_below` offers both. The
// members except the primary thread run at a lower priority (nice): only so a job that arrives takes a CPU from the team.
//
// The team passes both barriers and changes its size at the start of the same region (figures.hpp): the knob
// `barrier_members` asks for the second barrier, and `threads_if_bad` is the size after a bad passage. This policy then
// comes to the same result from the figures.
#pragma once

#include <cstdint>

#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct asat_v2_options {
  bool flag = true;          // on; the program may switch it off and on while it runs
  double eval_time_s = 0.5;  // least time between evaluations; compiler's version: 1
  double bad_time_s = 1e-3;
  std::uint32_t bad_trig = 2;    // compiler's version: 1
  std::uint32_t good_trig = 15;  // compiler's version: 10
  enum class dip_limit : std::uint8_t { bad_time, eval_time } dip_below = dip_limit::bad_time;
  std::uint32_t nice = 5;  // added to the nice value of each member except the primary thread
  double longest_dip_s() const noexcept { return dip_below == dip_limit::bad_time ? bad_time_s : eval_time_s; }
};

class asat_v2 : public thread_fitting {
 public:
  explicit asat_v2(asat_v2_options options = {}) : thread_fitting(knobs::threads, options.flag), m_options(options) {}
  std::string_view name() const noexcept override { return "asat-v2"; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double now_s) override;

 private:
  std::optional<verdict> judge_passage(const situation& now);
  std::optional<verdict> judge_dip(const situation& now);
  std::optional<verdict> plan(const situation& now);
  struct next_step {
    knob_value drop = 0, dip = 0;
    bool operator==(const next_step&) const = default;
  };

  asat_v2_options m_options;
  double m_evaluated = 0;  // number of the latest evaluation
  std::uint32_t m_bad = 0, m_good = 0;
  next_step m_planned;
};

}  // namespace trimtab::steer
