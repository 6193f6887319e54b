// How threads that wait do so: a rule for the knob `blocktime`, in milliseconds, of a subject that has one. Who spins takes
// a CPU from whoever has work, of this program or of another; who sleeps must be woken, and then wait for a CPU. So threads
// are to sleep after a millisecond (1) only where
//   - in two windows in a row they were runnable without a CPU for a share of `bad_share`, and
//   - in `long_windows` in a row they waited, from one region to the next, for `long_wait_s` in the mean. Short regions
//   whose
//     threads miss each other beside others' do so for some windows, too, and then find each other again.
// It is tried first: kept when regions take less time so than before, by more than chance, else undone, and tried again
// after twice as long each time. The program's own value is back when they lacked next to no CPUs for `calm_s`, or wait for
// half of `long_wait_s` only, which counts as a trial that failed. If it is not calm for long then, calm must last twice as
// long the next time. Figures, of the subject: run_delay_share, wait_seconds, and the number of the window that they are of.
// Measurements: from one region to the next.
#pragma once

#include <map>
#include <optional>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

namespace knobs {
inline constexpr std::string_view block_time = "blocktime";
}  // namespace knobs

struct wait_policy_options {
  double period_s = 0.02;
  double bad_share = 0.05;
  double long_wait_s = 0.2e-3;  // several times what waking a thread takes
  unsigned bad_windows = 2, long_windows = 8, short_windows = 2;
  std::size_t windows = 5;  // of a trial, and of what it is compared with
  double faster = 0.97;     // of regions' time: it is kept
  double pause_s = 2, most_pause_s = 60;
  double calm_share = 0.01;
  double calm_s = 2, most_calm_s = 60;
  double soon_s = 3;  // bad again within that: the program's own value did not stand
};

class wait_policy : public policy {
 public:
  explicit wait_policy(wait_policy_options options = {}) : m_options(options) {}
  std::string_view name() const noexcept override { return "wait-policy"; }
  cadence when() const override { return {m_options.period_s, {}}; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct state {
    double window = -1;
    unsigned bad = 0, waited_long = 0, waited_shortly = 0;  // windows in a row
    std::vector<double> before, trial;                      // of the latest windows, seconds from one region to the next
    decision_number latest_trial = 0;
    bool is_on_trial = false;
    double pause_s = 0, paused_until_s = 0;
    double calm_since_s = -1;  // below 0: it is not calm
    double calm_s = 0;
    double back_at_s = -1;
  };
  struct window {
    double time_s, share, wait_s;
  };
  // What is proposed, without its subject and evidence.
  std::optional<proposal> propose(const subject_view& subject, double time_s);
  void collect(state& state_of_subject, const subject_view& subject) const;
  std::optional<proposal> try_it(state& state_of_subject, const window& now) const;
  std::optional<proposal> end_trial(state& state_of_subject, double time_s) const;
  std::optional<proposal> go_back(state& state_of_subject, const window& now) const;
  void pause(state& state_of_subject, double time_s) const;

  wait_policy_options m_options;
  std::map<subject_id, state> m_states;
};

}  // namespace trimtab::steer
