// The port for knobs: who can turn something in the program implements it. The session of a watched process, and each
// runtime of tasks, has a list of sources and no knowledge of any of them.
//
//   begin        once, before the first work that is recorded: from now on hooks follow what is decided
//   add_to       every few milliseconds: subjects offered or withdrawn (through the registry), what was measured since the
//                call before (seconds; the number of the decision that was in force), figures
//   apply        turns one knob of a subject; the answer says whether it took effect. All knobs of a decision in turn
//   confirm      all of them are turned: what begins from now on is measured under this number
//   decided      a decision on one of its subjects was applied
//   conclude     the program ends in an orderly way
//   after_fork   in the child of a fork, which runs as it would without steering: no other call follows there
//
// Threads: `begin` and `after_fork` are called by a thread of the program, `conclude` by the one that ends it, `apply` and
// `confirm` (knob_offer) by the steering thread or, once, by the one that brings all knobs back; all else by the steering
// thread alone. Only `after_fork` must not allocate. None may block for long: whoever waits for it is the steering thread.
#pragma once

#include "trimtab/steer/knob_registry.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

class knob_source {
 public:
  virtual ~knob_source() = default;
  // Throws where it cannot be set up; then nothing is steered.
  virtual void begin() {}
  virtual void add_to(snapshot& now) = 0;
  virtual void decided(const decision& decision_made) { static_cast<void>(decision_made); }
  // There is nothing that it would have to see soon. `now_s` is of the snapshots' time.
  virtual bool is_at_rest(double now_s) const { return static_cast<void>(now_s), true; }
  virtual void conclude() {}
  virtual void after_fork() noexcept {}
};

}  // namespace trimtab::steer
