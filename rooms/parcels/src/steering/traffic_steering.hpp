// Tunes how a locality's parcels are coalesced and its communication servers while the program runs: knobs, policies,
// threads and records. Each locality for itself.
#pragma once

#include <memory>

#include "steering/coalescing_source.hpp"
#include "steering/servers_source.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/runtime/known_settings.hpp"
#include "trimtab/runtime/program_record.hpp"
#include "trimtab/runtime/steering_threads.hpp"
#include "trimtab/steer/manual_panel.hpp"

namespace trimtab::parcels {

class traffic_steering {
 public:
  // The exchange and its servers must live longer. nullptr: it has none.
  traffic_steering(exchange& traffic, served_transport* servers, const job_options& options);
  // What is on trial is undone.
  ~traffic_steering();
  // The program sets how parcels are coalesced: that is not tuned any more. From any thread.
  void leave_to_program() { m_source.leave_to_program(); }
  traffic_steering(const traffic_steering&) = delete;
  traffic_steering& operator=(const traffic_steering&) = delete;

 private:
  steer::recording_head built() const;
  std::vector<std::unique_ptr<steer::policy>> policies() const;
  void add_to(steer::snapshot& snapshot);
  bool is_at_rest() const;
  void offer(const steer::knob_offer& offered);
  steer::manual_panel::place panel_place() const;
  void stepped(const steer::snapshot& latest_snapshot, steer::decision_number decided);

  const std::uint32_t m_number;
  const std::shared_ptr<steer::board> m_knobs = std::make_shared<steer::board>();
  task_steering::program_record m_record;
  steer::manual_panel m_by_hand{panel_place(), *m_knobs};
  steer::knob_registry m_registry;
  const task_steering::known_settings m_known;
  coalescing_source m_source;
  const std::unique_ptr<servers_source> m_servers;  // nullptr: there are none
  const steer::recording_head m_built;
  std::unique_ptr<steer::recording_writer> m_snapshots;  // nullptr: nobody asked for them
  task_steering::steering_threads m_threads;             // last: they use all of the above
};

}  // namespace trimtab::parcels
