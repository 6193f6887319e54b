// What steers a watched process: sources of knobs, the engine with its policies, and what is recorded of both.
// Built by a thread of the program; used by the steering thread, apart from what says otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "knob_sources.hpp"
#include "machine_look.hpp"
#include "pace.hpp"
#include "trimtab/observe/lane_times.hpp"
#include "trimtab/steer/conductor.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/manual_panel.hpp"
#include "trimtab/steer/outside_policy.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::session {

class steering_parts {
 public:
  // settings: of earlier runs. Throws where there is no memory.
  steering_parts(const steering_options& chosen, std::vector<steer::setting> settings);
  steering_parts(const steering_parts&) = delete;
  steering_parts& operator=(const steering_parts&) = delete;

  // The process has a lane, and so a folder, where steering has its files.
  void begin_in(const std::string& folder);
  // From now on hooks follow what is decided. Throws where that cannot be; `turn_off` ends what has begun then.
  void turn_on();
  // In the child of a fork.
  void turn_off() noexcept;

  // By the sampler's thread: how long a policy takes is not counted while nothing of the process gets on.
  void tick();
  // The policy that has been busy for too long by now, where the sampler's thread has ended it; "": none.
  std::string end_overdue_policy();

  double period_s() const;
  void advance(bool is_last);
  void restore() { m_knobs.restore(); }
  void write_end();

 private:
  void add(const steer::policy_description& description, const std::string& folder);
  std::unique_ptr<steer::recording_writer> recording_into(std::string folder) const;
  void offer(const steer::knob_offer& offered);
  void tell(const steer::decision& decision_made, bool is_applied);
  void write_down(const steer::snapshot& latest_snapshot, steer::decision_number decided);
  void pace_by(steer::snapshot& now);

  std::atomic<double> m_ticked_s{0};
  double m_latest_tick_s = 0;
  bool m_is_turned_on = false;
  steer::board m_knobs;
  steer::decision_record m_record;
  std::unique_ptr<steer::manual_panel> m_by_hand;  // from begin_in on
  bool m_has_told_of_panel = false;
  steer::knob_registry m_registry;
  const knob_sources m_sources;
  const bool m_fits_threads, m_has_regions;
  pace m_looks;
  const steer::recording_head m_built;
  steer::engine m_engine;
  steer::conductor m_conductor;
  std::unique_ptr<steer::recording_writer> m_recorded;  // nullptr: nobody asked for it
  const steer::history_policy* m_history = nullptr;
  steer::outside_policy* m_outside = nullptr;  // nullptr: there is none
  std::optional<machine_look> m_machine;       // of a policy outside, where nobody fits threads
  std::size_t m_misfits = 0;
  observe::lane_times m_lanes;
  std::optional<double> m_delayed;  // their latest
};

}  // namespace trimtab::session
