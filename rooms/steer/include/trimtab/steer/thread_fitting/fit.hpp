// Fits the number of threads to the machine without a barrier of its own. Too many threads cost orders of magnitude, too few
// a linear factor; so it drops fast and adds slowly, and tries and sees only where regions are short.
//
//   cap    at once: CPUs allowed, and the cgroup's quota, rounded down
//   share  what the registry gives, while others fit their threads, too: when it held for two windows, but for the first
//   drop   at once to what is left: members lost half a CPU in one window, or three tenths in two in a row; without a figure
//          of that one thread, when regions' ends lay far apart in two windows in a row, beyond what is usual
//   add    one, when CPUs were idle for `calm_s` at a stretch and nothing was lost: soon, as who took them may just have
//          ended
//   grain  one, or half as many, where regions are so short that they may not be worth waking threads for, and a trial of
//          some of them shows that they take less time so (grain_limit.hpp)
//
// It comes to rest. A thread is added only where at least `least_idle` of a CPU is free, so it can lose at most
// 1 - least_idle, which is not enough for a drop. What is measured within `settle_s` of a change is not judged. And when a
// drop follows an add within `soon_s`, the next add waits twice as long as that one did; when it comes later, half as long.
#pragma once

#include "trimtab/steer/thread_fitting/grain_limit.hpp"
#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

namespace trimtab::steer {

struct fit_options {
  bool flag = true;        // on; the program may say otherwise while it runs
  double period_s = 0.01;  // between looks; each window of the figures is judged once, and soon
  double lost_at_once = steer::lost_at_once;
  double lost_in_a_row = 0.3;  // CPUs, > 1 - least_idle
  double least_idle = 0.8;     // CPUs
  double calm_s = 0.3;         // two windows
  double most_calm_s = 60;
  double settle_s = 0.25;
  double soon_s = 3;
  double bad_skew_s = 3e-3;  // a slice of the scheduler's
  double skew_ratio = 4;     // above the usual, which is the regions' own imbalance
  grain_options grain = {};
};

class fit : public thread_fitting {
 public:
  explicit fit(fit_options options = {}, std::string_view knob = knobs::threads)
      : thread_fitting(knob, options.flag), m_options(options), m_calm_s(options.calm_s), m_grain(options.grain) {}
  std::string_view name() const noexcept override { return "fit"; }
  cadence when() const override { return {m_options.period_s, {}}; }

 protected:
  std::optional<verdict> judge(const situation& now) override;
  void begin_anew(double now_s) override;

 private:
  struct ceiling {
    std::string_view figure;
    const char* reason;  // with the figure's value
    knob_value threads;
  };
  static ceiling least_of(const situation& now, std::initializer_list<ceiling> limits);
  verdict bring_to(const situation& now, const ceiling& tightest);
  std::optional<verdict> drop(const situation& now);
  std::optional<verdict> add(const situation& now, knob_value limit);
  bool is_skewed(const situation& now);
  std::optional<verdict> end_trial(const situation& now);
  std::optional<verdict> try_others(const situation& now, knob_value limit);
  void rest(double now_s);

  fit_options m_options;
  double m_window = 0;  // its number, that was judged last
  double m_calm_s;      // that the next add needs
  double m_added_s = -1e9, m_changed_s = -1e9;
  double m_calm_since_s = -1;  // below 0: not calm
  bool m_was_suspicious = false, m_was_above_share = false;
  bool m_is_new = true;        // no window was judged
  double m_usual_skew_s = -1;  // below 0: not known
  grain_limit m_grain;
};

}  // namespace trimtab::steer
