// The communication servers of a locality as knobs: how many there are, how many messages in a row one of them gets, and
// how many may wait for one locality. Turning them in the middle of traffic loses and reorders nothing
// (served_transport.hpp).
//
// What is measured is as of coalescing_source: the program's time for each parcel that it sends or handles.
#pragma once

#include <mutex>
#include <string>

#include "steering/traffic_progress.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::parcels {

class servers_source final : public steer::knob_source {
 public:
  // key: begins the names by which later runs find what was learned; "": they do not. All must live longer.
  servers_source(served_transport& servers, const exchange& traffic, double ns_per_tick, steer::knob_registry& registry,
                 std::string key);
  void add_to(steer::snapshot& now) override;
  bool is_at_rest(double) const override { return m_is_at_rest; }

 private:
  void offer(steer::snapshot& now);
  // False: the program has changed the servers. They are left to it from then on.
  bool is_still_ours();
  bool turn(std::uint32_t knob, steer::knob_value to);

  served_transport& m_servers;
  const exchange& m_traffic;
  const double m_ns_per_tick;
  steer::knob_registry& m_registry;
  const std::string m_key;
  std::mutex m_turning;  // of the next two
  server_settings m_settings;
  bool m_is_left_to_program = false;
  bool m_is_offered = false;
  steer::decision_number m_under = 0;
  traffic_progress m_last;
  double m_last_s = -1;
  bool m_is_at_rest = true;
};

}  // namespace trimtab::parcels
