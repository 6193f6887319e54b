// Puts engine and board together for a process: one thread, the steering thread, advances; any other may look after it. What
// hangs in a policy hangs there alone: the watcher brings the knobs back to what is accepted, and nothing is applied any
// more.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/engine.hpp"

namespace trimtab::steer {

class conductor {
 public:
  // Told of each decision and whether it could be applied, on the steering thread: the run's record.
  using listener = std::function<void(const decision& made, bool is_applied)>;

  // Told of each step, before anything is done that was decided in it: the snapshot as it is to be told to an engine that
  // shall decide the same (policies that the clock found slow are overdue in it), and the number of the latest decision.
  using witness = std::function<void(const snapshot& told, decision_number decided)>;

  // `clock`: seconds, of any begin; callable from both threads.
  conductor(engine& steering, board& knobs, std::function<double()> clock, listener on_decision = {}, witness stepped = {});

  // A step of the engine; what it decides is applied. Adds to the snapshot what could not be applied after the one before.
  void advance(snapshot now);

  // By another thread, every so often: the name of the policy that has been called for longer than this, after which all
  // knobs are back at their accepted values for good. "": none.
  std::string look_after(double limit_s);
  bool is_given_up() const noexcept { return m_is_given_up.load(std::memory_order_acquire); }

 private:
  engine& m_steering;
  board& m_knobs;
  std::function<double()> m_clock;
  listener m_told;
  witness m_stepped;
  std::vector<decision_number> m_not_applied;
  std::atomic<double> m_since{-1};  // the step under way began; below 0: none is
  std::atomic<bool> m_is_given_up{false};
};

}  // namespace trimtab::steer
