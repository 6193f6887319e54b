#include "trimtab/steer/conductor.hpp"

namespace trimtab::steer {

conductor::conductor(engine& steering, board& knobs, std::function<double()> clock, listener on_decision, witness stepped)
    : m_steering(steering),
      m_knobs(knobs),
      m_clock(std::move(clock)),
      m_told(std::move(on_decision)),
      m_stepped(std::move(stepped)) {}

void conductor::advance(snapshot now) {
  if (is_given_up()) return;
  now.not_applied.insert(now.not_applied.end(), m_not_applied.begin(), m_not_applied.end());
  m_not_applied.clear();
  m_since.store(m_clock(), std::memory_order_release);
  const std::vector<decision>& decisions = m_steering.step(now);
  m_since.store(-1, std::memory_order_release);
  if (m_stepped) {
    const std::vector<std::string>& slow = m_steering.slow_ones();
    now.overdue.insert(now.overdue.end(), slow.begin(), slow.end());
    m_stepped(now, m_steering.latest());
  }
  for (const decision& change : decisions) {
    // False as well when the watcher gave up in the meantime: the board takes nothing then.
    const bool is_applied = m_knobs.apply(change);
    if (!is_applied) m_not_applied.push_back(change.number);
    if (m_told) m_told(change, is_applied);
  }
}

std::string conductor::look_after(double limit_s) {
  const double waiting_since = m_since.load(std::memory_order_acquire);
  if (waiting_since < 0 || is_given_up() || m_clock() - waiting_since <= limit_s) return "";
  const char* const running = m_steering.running();
  m_is_given_up.store(true, std::memory_order_release);
  m_knobs.restore();
  return running == nullptr ? "the engine" : running;
}

}  // namespace trimtab::steer
