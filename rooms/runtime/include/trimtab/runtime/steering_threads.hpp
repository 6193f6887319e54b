// The two threads that steer: one advances a conductor every few milliseconds, the other looks after it. A policy that hangs
// keeps only the first one, which is then left behind: what it may still touch lives as long as it does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trimtab/base/periodic_thread.hpp"
#include "trimtab/steer/conductor.hpp"

namespace trimtab::task_steering {

class steering_threads {
 public:
  struct options {
    double period_s = 0.01;  // of snapshots
    double patience_s = 1;
    steer::engine_options engine = {};
    std::shared_ptr<steer::board> knobs = std::make_shared<steer::board>();
  };
  // On the first thread, one after the other, and never again once the destructor has returned.
  struct callbacks {
    // What has happened since the call before; time_s and is_last are filled in. Subjects that appear are on the board.
    std::function<void(steer::snapshot& into)> look;
    steer::conductor::listener told;
    steer::conductor::witness stepped = {};
    // Seconds until the next snapshot, where that is not always the same.
    std::function<double()> period_s = {};
  };
  steering_threads(const options& requested_options, std::vector<std::unique_ptr<steer::policy>> policies, callbacks calls);
  // The last snapshot; what is on trial is undone. Waits for a policy that runs as long as its patience goes.
  ~steering_threads();
  steering_threads(const steering_threads&) = delete;
  steering_threads& operator=(const steering_threads&) = delete;

  // Ends them: afterwards nothing runs any more, and the following may be asked.
  void end();
  const steer::engine& engine() const noexcept;
  // The policy that was given up, or "steering" where a callback threw; "": none.
  std::string given_up() const;

 private:
  struct state;

  std::shared_ptr<state> m_state;
  base::periodic_thread m_looks_after, m_advances;
  bool m_is_over = false;
};

}  // namespace trimtab::task_steering
