// The knobs as their owners have them: applies decisions through the owners' callbacks and knows what is accepted. Any
// thread may call it; callbacks run under its lock, on the caller's thread, and must not call it back. What they throw stays
// here.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "trimtab/steer/decision.hpp"

namespace trimtab::steer {

class board {
 public:
  // Turns one knob of one subject. False: it cannot, now or at all.
  using apply_knob = std::function<bool(std::uint32_t knob, knob_value to)>;
  // Told after the knobs of a decision are turned, all of them, or are brought back (restore; with the latest number again):
  // what instances that begin from now on are measured under. May be empty.
  using in_force = std::function<void(decision_number number)>;

  void add(const subject_info& subject, apply_knob apply, in_force on_decision = {});
  // Its callbacks are not called any more once this has returned.
  void remove(subject_id subject);

  // False: the subject is gone, or a knob could not be turned; then the values accepted before are in force again, as far as
  // their owner lets them, and the next snapshot has the number among its `not_applied`.
  bool apply(const decision& decision_made);

  // Everything back to what is accepted, for good: later decisions are not applied. When the engine's thread is stuck, and
  // at the end. Returns the number of subjects that had to be changed.
  std::size_t restore();

  std::vector<knob_value> values(subject_id subject) const;    // empty: gone
  std::vector<knob_value> accepted(subject_id subject) const;  // empty: gone

 private:
  struct entry {
    std::vector<knob_value> values, accepted;
    apply_knob apply;
    in_force told;
    decision_number latest = 0;
  };
  static bool turn(entry& target, std::uint32_t knob, knob_value to) noexcept;
  static bool turn_back(entry& target) noexcept;
  static bool tell(const entry& target) noexcept;

  mutable std::mutex m_lock;
  std::map<subject_id, entry> m_subjects;
  bool m_is_over = false;
};

}  // namespace trimtab::steer
