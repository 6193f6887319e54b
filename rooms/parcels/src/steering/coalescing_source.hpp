// The settings by which parcels are coalesced, as knobs: of each kind of traffic, and of each action that has settings of
// its own. What was learned for a kind is in force when a program comes back to it.
//
// What is measured is the program's time for each parcel that it sends or handles, in epochs from one call of add_to to the
// next.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "steering/traffic_progress.hpp"
#include "trimtab/parcels/coalescing/exchange.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::parcels {

// "messages, 2 to 63 parcels at a time"
std::string name_of_traffic(std::uint32_t kind);

class coalescing_source final : public steer::knob_source {
 public:
  // key: begins the names by which later runs find what was learned; "": they do not.
  coalescing_source(exchange& traffic, const coalescing& standard, double ns_per_tick, steer::knob_registry& registry,
                    std::string key);
  void add_to(steer::snapshot& now) override;
  bool is_at_rest(double) const override { return m_is_at_rest; }
  // The program sets what has been for all actions without settings of their own: that is left to it from now on. From any
  // thread.
  void leave_to_program();

 private:
  struct subject {
    steer::subject_id id = 0;
    coalescing settings = {};
    action* of = nullptr;  // nullptr: all that have no settings of their own, in this kind of traffic
    std::uint32_t traffic_kind = 0;
    std::vector<std::uint32_t coalescing::*> members = {};  // that the knobs turn
    steer::decision_number under = 0;
  };

  // The kind of nearly all that was sent since the last look.
  std::optional<std::uint32_t> traffic_kind_since(const traffic_progress& done) const noexcept;
  void put_in_force(std::optional<std::uint32_t> kind);
  void offer(steer::snapshot& now, std::string name, subject added);
  void offer_traffic(steer::snapshot& now, std::uint32_t kind);
  void offer_actions(steer::snapshot& now);
  void withdraw_traffic(steer::snapshot& now);
  bool turn(subject& which, std::uint32_t knob, steer::knob_value to);

  exchange& m_traffic;
  const coalescing m_standard;
  const double m_ns_per_tick;
  steer::knob_registry& m_registry;
  const std::string m_key;
  std::map<steer::subject_id, subject> m_subjects;  // stay where they are
  std::vector<bool> m_is_offered;                   // by number of action
  std::array<bool, traffic_kinds> m_is_traffic_offered{};
  std::mutex m_turning;  // of the following
  bool m_is_left_to_program = false;
  std::optional<std::uint32_t> m_kind_in_force;  // none: the program's own settings for all
  steer::subject_id m_last_id = 0;
  traffic_progress m_last;
  double m_last_s = -1;
  bool m_is_at_rest = true;
};

}  // namespace trimtab::parcels
