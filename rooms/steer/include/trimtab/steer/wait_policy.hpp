// How threads that wait do so: a rule for the knob `blocktime`, in milliseconds, of a subject that has one. Who spins at a
// barrier takes a CPU from whoever has work, of this program or of another. So: where threads were runnable without a CPU
// for a share of `bad_share` in two windows in a row, they are to sleep after a millisecond (1); when there was next to none
// of that for `calm_s`, the program's own value is back. If that does not stand, calm must last twice as long the next time.
// Figures, of the subject: run_delay_share, and the number of the window that it is of.
#pragma once

#include <map>
#include <optional>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

namespace knobs {
inline constexpr std::string_view block_time = "blocktime";
}  // namespace knobs

struct wait_policy_options {
  double period_s = 0.1;
  double bad_share = 0.05;
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
    bool was_bad = false;
    double calm_since_s = -1;  // below 0: it is not calm
    double calm_s = 0;         // 0: as in the options
    double back_at_s = -1;
  };
  // To what the knob is to be set after a window.
  std::optional<knob_value> judge(state& of, double time_s, double share, bool sleeps, knob_value own) const;

  wait_policy_options m_options;
  std::map<subject_id, state> m_states;
};

}  // namespace trimtab::steer
