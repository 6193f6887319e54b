#include "cap_source.hpp"

#include <utility>

namespace trimtab::task_steering {

cap_source::cap_source(tasks::runtime& owner_runtime, worker_cap& cap, steer::knob_registry& registry,
                       options requested_options)
    : m_of(owner_runtime),
      m_cap(cap),
      m_registry(registry),
      m_how(std::move(requested_options)),
      m_figures(m_how.is_fitted ? std::make_unique<cap_figures>() : nullptr) {}

void cap_source::offer(steer::snapshot& now) {
  m_registry.offer(now, {m_cap.info(), m_how.key, m_of.recorded_as(),
                         [this](std::uint32_t, steer::knob_value to) { return m_cap.turn(to); },
                         [this](steer::decision_number number) { m_cap.in_force(number); }});
}

void cap_source::add_to(steer::snapshot& now) {
  if (m_how.is_turned && !std::exchange(m_is_offered, true)) offer(now);
  steer::subject_state state = m_cap.look();
  if (m_figures) {
    std::erase_if(state.figures,
                  [](const steer::figure& candidate) { return candidate.name == steer::figures::run_delay_share; });
    m_figures->add_to(state.figures, m_of.workers(), m_of.active_workers());
  }
  now.figures = state.figures;
  if (!m_how.is_turned || m_is_gone) return;
  m_is_gone = m_cap.is_taken_over();
  if (m_is_gone)
    m_registry.withdraw(now, m_cap.info().id);
  else
    now.subjects.push_back(std::move(state));
}

}  // namespace trimtab::task_steering
