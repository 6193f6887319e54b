// The priorities of named kinds of task as knobs `priority:KIND`: "high" lets its tasks run before others, "normal" leaves
// them as the program creates them. All kinds are one subject, measured by the time for one task, as the cap of workers is.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "trimtab/steer/knob_source.hpp"
#include "trimtab/steer/settings.hpp"
#include "worker_cap.hpp"

namespace trimtab::task_steering {

class priority_source final : public steer::knob_source {
 public:
  struct options {
    bool is_turned = false;  // otherwise nothing is offered
    std::string key;         // how later runs find it
    std::vector<steer::setting> settings;
  };
  // Why nothing is offered though it was asked for.
  enum class obstacle { none, policy_without_priorities, other_runtime };
  static constexpr std::string_view name = "priorities of tasks";

  priority_source(tasks::runtime& owner_runtime, steer::subject_id id, steer::knob_registry& registry, cost_meter& costs,
                  options requested_options);
  ~priority_source() override;
  void add_to(steer::snapshot& now) override;
  obstacle reason() const noexcept { return m_obstacle; }

 private:
  void offer(steer::snapshot& now, const std::vector<std::string>& kinds);
  std::vector<std::string> kinds_to_offer();
  bool turn(std::uint32_t place, steer::knob_value to) noexcept;
  void measure(steer::snapshot& now);

  tasks::runtime& m_of;
  steer::knob_registry& m_registry;
  cost_meter& m_costs;
  const options m_how;
  const obstacle m_obstacle;
  steer::subject_info m_info;
  std::vector<std::string> m_kinds;  // by place of their knobs
  std::size_t m_seen = 0;            // kinds at the look before
  unsigned m_quiet_looks = 0;        // since another one was seen
  bool m_is_offered = false;
  std::atomic<steer::decision_number> m_under{0};
  tasks::snapshot m_before;
  work_window m_window;
};

}  // namespace trimtab::task_steering
