// The block time of LLVM's and Intel's runtimes as a knob: how long threads that wait spin. A subject of its own, from the
// first region on. By the steering thread.
#pragma once

#include <atomic>

#include "trimtab/observe/lane_times.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::session {

class block_time_steering final : public steer::knob_source {
 public:
  explicit block_time_steering(steer::knob_registry& registry) : m_registry(registry) {}
  void begin() override { openmp::watch_block_time(); }
  void add_to(steer::snapshot& now) override;
  bool is_at_rest(double now_s) const noexcept override { return !m_is_known || now_s < m_rests_until_s; }

 private:
  bool make_known(steer::snapshot& now);
  bool is_worth_timing(double delayed, double now_s);
  void rest_if_short(double wait_s, double now_s);

  steer::knob_registry& m_registry;
  steer::subject_id m_id = 0;
  bool m_is_known = false, m_is_ignored = false;
  std::atomic<steer::decision_number> m_in_force{0};  // restore() may come from another thread
  bool m_is_timing = false;                           // how long threads wait
  unsigned m_crowded = 0, m_calm = 0;  // windows in a row in which threads lacked CPUs, or nobody need have known
  unsigned m_short = 0;                // and in which they waited too shortly for anything to be gained
  double m_rest_s = 0, m_rests_until_s = 0;
  // The window under way.
  double m_begun_s = 0;
  steer::decision_number m_under = 0;
  openmp::region_waits m_waits;
  observe::lane_times m_lanes;
  double m_windows = 0;  // that have ended
};

}  // namespace trimtab::session
