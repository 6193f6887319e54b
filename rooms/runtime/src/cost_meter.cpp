#include "cost_meter.hpp"

#include <utility>

namespace trimtab::task_steering {

namespace {
constexpr double reading_good_for_ns = 1e6;
}  // namespace

cost_meter::cost_meter(tuning_objective wanted, energy_source energy_j) {
  if (wanted == tuning_objective::time || !energy_j) return;
  const std::optional<double> now = energy_j();
  if (!now) return;
  m_objective = wanted;
  m_energy_j = std::move(energy_j);
  m_joules = *now;
  m_read_at = base::now();
}

double cost_meter::joules() noexcept {
  if (m_objective == tuning_objective::time) return 0;
  const std::lock_guard guard(m_lock);
  const base::ticks now = base::now();
  if (static_cast<double>(now - m_read_at) * tasks::runtime::ns_per_tick() < reading_good_for_ns) return m_joules;
  m_read_at = now;
  m_joules = m_energy_j().value_or(m_joules);
  return m_joules;
}

double cost_meter::cost_of_unit(const resources& used, double units) const noexcept {
  const double seconds = used.seconds / units, joules = used.joules / units;
  if (m_objective == tuning_objective::time) return seconds;
  return m_objective == tuning_objective::energy ? joules : joules * seconds;
}

}  // namespace trimtab::task_steering
