#include "priority_source.hpp"

#include <algorithm>
#include <utility>

#include "trimtab/steer/tasks_priority.hpp"
#include "trimtab/tasks/core/kind_priorities.hpp"

namespace trimtab::task_steering {

namespace {

// A program has shown its kinds once no other has come for so many looks.
constexpr unsigned enough_quiet_looks = 10;
// Tasks that wait move to other queues by themselves, as they come to their turn.
constexpr double change_cost_s = 1e-5;
// Tasks of a measurement take this long at least, since the kinds differ in length and their order changes.
constexpr double least_measured_s = 0.05;

constexpr steer::knob_value normal_value = 0, high_value = 1;

priority_source::obstacle obstacle_of(const tasks::runtime& owner_runtime, bool is_turned) {
  using enum priority_source::obstacle;
  if (!is_turned) return none;
  if (owner_runtime.policy() == tasks::policy::local || owner_runtime.policy() == tasks::policy::hierarchy)
    return policy_without_priorities;
  return tasks::priorities_of_kinds.watch() ? none : other_runtime;
}

}  // namespace

priority_source::priority_source(tasks::runtime& owner_runtime, steer::subject_id id, steer::knob_registry& registry,
                                 cost_meter& costs, options requested_options)
    : m_of(owner_runtime),
      m_registry(registry),
      m_costs(costs),
      m_how(std::move(requested_options)),
      m_obstacle(obstacle_of(owner_runtime, m_how.is_turned)),
      m_info{id, std::string(name), {}},
      m_before(owner_runtime) {}

priority_source::~priority_source() {
  if (m_how.is_turned && m_obstacle == obstacle::none) tasks::priorities_of_kinds.unwatch();
}

// Those of earlier runs at once; without them, all that the program has shown when no more come.
std::vector<std::string> priority_source::kinds_to_offer() {
  std::vector<std::string> kinds;
  for (const steer::setting& saved : m_how.settings)
    if (saved.key == m_how.key)
      for (const steer::setting::value& value : saved.values)
        if (value.knob.starts_with(steer::initiating_priority::knob))
          kinds.push_back(value.knob.substr(steer::initiating_priority::knob.size()));
  const bool has_settings = !kinds.empty();
  const std::vector<std::string> seen = tasks::priorities_of_kinds.names();
  m_quiet_looks = seen.size() == std::exchange(m_seen, seen.size()) ? m_quiet_looks + 1 : 0;
  if (!has_settings && (seen.empty() || m_quiet_looks < enough_quiet_looks)) return {};
  for (const std::string& kind : seen)
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  return kinds;
}

bool priority_source::turn(std::uint32_t place, steer::knob_value to) noexcept {
  return place < m_kinds.size() && tasks::priorities_of_kinds.set_raised(m_kinds[place], to == high_value);
}

void priority_source::offer(steer::snapshot& now, const std::vector<std::string>& kinds) {
  const steer::domain levels =
      steer::certain(steer::domain::categories({"normal", std::string(steer::initiating_priority::raised)}));
  for (const std::string& kind : kinds)
    m_info.knobs.push_back({std::string(steer::initiating_priority::knob) + kind,
                            levels,
                            normal_value,
                            change_cost_s,
                            steer::consent::safe,
                            0,
                            {}});
  m_kinds = kinds;
  m_is_offered = true;
  m_registry.offer(now, {m_info, m_how.key, m_of.recorded_as(),
                         [this](std::uint32_t place, steer::knob_value to) { return turn(place, to); },
                         [this](steer::decision_number number) { m_under.store(number, std::memory_order_release); }});
}

void priority_source::measure(steer::snapshot& now) {
  tasks::snapshot counts(m_of);
  const work_done work = done_between(m_before, counts);
  m_before = std::move(counts);
  steer::subject_state state{m_info.id, {}, {}};
  if (const auto measurement = m_window.add(work, m_under.load(std::memory_order_acquire), m_costs, least_measured_s))
    state.measured.push_back(*measurement);
  now.subjects.push_back(std::move(state));
}

void priority_source::add_to(steer::snapshot& now) {
  if (!m_how.is_turned || m_obstacle != obstacle::none) return;
  if (!m_is_offered) {
    const std::vector<std::string> kinds = kinds_to_offer();
    if (kinds.empty()) return;
    offer(now, kinds);
  }
  measure(now);
}

}  // namespace trimtab::task_steering
