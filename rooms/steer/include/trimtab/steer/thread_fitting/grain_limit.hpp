// How many threads a program's regions are worth, where they are short: waking a thread, and waiting for it, may take longer
// than what it does. Nobody lacks a CPU then, so no other figure shows it. So it is tried: some regions with one thread, or
// at the next time half as many, in turn with the others (team_trial.hpp); and, where that was better, now and then some
// with twice as many again.
//
// A trial ends with the first pair that shows no gain, some milliseconds, and the next one waits twice as long as the one
// before. All trials together stay below a share of the run. What was found holds until regions take twice as long.
#pragma once

#include <limits>
#include <optional>

#include "trimtab/steer/domain.hpp"

namespace trimtab::steer {

struct grain_options {
  double short_s = 300e-6;  // from one fork to the next; above it no thread is too dear to wake
  double ratio = 0.9;       // of a region's time: a gain
  double longer = 2;        // so many times as long: other regions than those that it was found for
  double wait_s = 1;        // before the next trial, doubled each time that none of them gained, up to
  double most_wait_s = 60;
  double answer_s = 0.5;       // a trial that was not made by then is none
  double budget_share = 0.03;  // of the time so far
  double block_s = 1e-3;       // what a trial without gain takes: so long, or so many regions
  double block_regions = 16;
  double most_block_s = 10e-3;
};

class grain_limit {
 public:
  static constexpr knob_value none = std::numeric_limits<knob_value>::max();

  explicit grain_limit(const grain_options& options = {}) : m_options(options), m_wait_s(options.wait_s) {}

  knob_value threads() const noexcept { return m_threads; }  // at most so many; none: any number
  knob_value on_trial() const noexcept { return m_trial; }   // 0: nothing

  // What to try now; 0: nothing. more: twice as many, or what there is room for; 0: nothing.
  knob_value next_trial(double now_s, double region_s, knob_value threads, knob_value fewest, knob_value largest);
  // Begins one, when as many trials as told were over.
  void begin(double now_s, knob_value members, double trials) noexcept;
  enum class result : std::uint8_t { open, gain, no_gain };
  // Of the trial under way. ratio: that of the latest trial.
  result end(double now_s, double trials, double ratio, knob_value threads) noexcept;
  // Of a window with the threads that were found. Whether these are other regions by now: then there is no limit any more.
  bool is_outgrown(double now_s, double region_s) noexcept;

 private:
  void wait_longer(double now_s) noexcept;

  grain_options m_options;
  knob_value m_threads = none, m_trial = 0;
  double m_wait_s, m_next_s = 0, m_up_s = 0, m_spent_s = 0;
  double m_began_s = 0, m_trials = 0, m_costs_s = 0;  // of the trial
  double m_region_s = -1;                             // under the limit; below 0: not known
  bool m_goes_down = true, m_by_half = false;
};

}  // namespace trimtab::steer
