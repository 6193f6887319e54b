// The block time of LLVM's and Intel's runtimes as a knob: how long threads that wait spin. A subject of its own, from the
// first region on. By the steering thread.
#pragma once

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/record.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::session {

// What the kernel says of all threads that this process has now, ns since each began.
struct cpu_times {
  std::uint64_t ran = 0, waited = 0;  // on a CPU; for one
};
cpu_times read_cpu_times(const char* root = "") noexcept;

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
  cpu_times m_before;
  double m_next_s = 0;
  double m_windows = 0;
};

}  // namespace trimtab::session
