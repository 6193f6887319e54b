// The contract of policies. One thread calls a policy, never two; it may throw and allocate; it reads nothing but the view,
// no clock and no system, and draws random numbers from its own seed only.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/decision.hpp"

namespace trimtab::steer {

// A subject as a policy sees it.
struct subject_view {
  const subject_info& info;
  std::span<const knob_value> in_force;
  std::span<const knob_value> accepted;
  decision_number since = 0;              // the decision that put in force what is
  decision_number last_trial = 0;         // the latest trial on it, which may be over before anyone has seen it
  std::span<const measurement> measured;  // since this policy's call before
  std::span<const figure> figures;        // the latest
  bool is_others = false;                 // another policy has its knobs, or another of its group is on trial
  bool has_level = false;                 // something was measured under the accepted values
};

struct view {
  double time_s = 0;
  bool is_last = false;
  double budget_left_s = 0;
  bool has_consent = false;  // to knobs that need it
  std::span<const subject_view> subjects;
  std::span<const subject_id> gone;
  std::span<const figure> figures;
  std::span<const event> events;  // since this policy's call before

  const subject_view* find(subject_id id) const noexcept;
};

struct proposed_change {
  std::uint32_t knob = 0;
  knob_value to = 0;
};

struct proposal {
  subject_id subject = 0;
  outcome what = outcome::trial;
  std::vector<proposed_change> changes;  // for kept and undone: empty
  std::string reason;
  std::vector<figure> evidence;
  estimate gain;
  bool is_released = false;  // of a manual policy: others may turn the subject's knobs again
};

// When a policy is called: every period_s of the snapshots' time, and with snapshots that have one of the events which the
// triggers name (event_source.hpp, and what its adapter tells besides). A period of 0: with each snapshot, but if there are
// triggers only with these. Always with the last.
struct cadence {
  double period_s = 0;
  std::vector<std::string> triggers;
  bool is_periodic() const noexcept { return triggers.empty() || period_s > 0; }
  bool is_triggered_by(std::span<const event> happened) const {
    return std::any_of(happened.begin(), happened.end(), [this](const event& happening) {
      return std::find(triggers.begin(), triggers.end(), happening.name) != triggers.end();
    });
  }
};

class policy {
 public:
  virtual ~policy() = default;
  virtual std::string_view name() const noexcept = 0;  // unique in an engine
  virtual cadence when() const { return {}; }
  // False: it only sets what is known already (history). That costs no budget, and leaves the subject to others.
  virtual bool is_search() const noexcept { return true; }
  // False: no budget ends its trials and none needs a level to be compared with. Of published policies, for comparison.
  virtual bool is_guarded() const noexcept { return true; }
  // True: the user decides. It takes subjects from other policies, whose trials are undone, and keeps them.
  virtual bool is_manual() const noexcept { return false; }
  virtual void observe(const view& now, std::vector<proposal>& out) = 0;
};

}  // namespace trimtab::steer
