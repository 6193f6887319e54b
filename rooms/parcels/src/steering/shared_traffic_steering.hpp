// Tunes how the parcels of a whole job are coalesced: for each kind of traffic all localities search together, and keep the
// same settings. A thread of its own looks every few milliseconds at what was sent and handled, as that of traffic_steering
// does. Actions that have settings of their own are left alone: what is measured of one depends on the others.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>

#include "steering/coalescing_source.hpp"
#include "steering/shared_tuning.hpp"
#include "trimtab/base/periodic_thread.hpp"
#include "trimtab/parcels/job/job.hpp"

namespace trimtab::parcels {

class shared_traffic_steering {
 public:
  // The exchange must live longer.
  shared_traffic_steering(exchange& traffic, const job_options& options, std::shared_ptr<shared_tuning> tuning);
  // What is on trial is undone.
  ~shared_traffic_steering();
  shared_traffic_steering(const shared_traffic_steering&) = delete;
  shared_traffic_steering& operator=(const shared_traffic_steering&) = delete;

  // The program sets how parcels are coalesced: that is not tuned any more. From any thread.
  void leave_to_program() { m_source.leave_to_program(); }

 private:
  struct tuned_traffic {
    std::shared_ptr<shared_tuning_member> member;
    steer::decision_number in_force = 0;
  };

  void advance();
  void add(const steer::subject_info& traffic);
  bool apply(steer::subject_id traffic, const steer::knob_values& values);

  const std::shared_ptr<shared_tuning> m_tuning;
  steer::board m_knobs;
  steer::knob_registry m_registry;
  coalescing_source m_source;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::map<steer::subject_id, tuned_traffic> m_traffic;
  steer::decision_number m_last = 0;
  std::atomic<bool> m_is_at_rest{true};
  base::periodic_thread m_thread;  // last: it uses all of the above
};

}  // namespace trimtab::parcels
