// The block time of LLVM's and Intel's runtimes as a knob: how long threads that wait spin. A subject of its own, from the
// first region on. By the steering thread.
#pragma once

#include "trimtab/observe/thread_times.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/record.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::session {

class block_time_steering {
 public:
  block_time_steering(steer::board& knobs, steer::decision_record& record) : m_knobs(knobs), m_record(record) {}
  // What happened since the last call.
  void add_to(steer::snapshot& now);

 private:
  bool make_known(steer::snapshot& now);

  steer::board& m_knobs;
  steer::decision_record& m_record;
  steer::subject_id m_id = 0;
  bool m_is_known = false, m_is_ignored = false;
  std::optional<observe::thread_times> m_before;
  double m_next_s = 0;
  double m_windows = 0;
};

}  // namespace trimtab::session
