#include "trimtab/steer/event_source.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

std::optional<double> event_source::add(pace& its, const measurement& one) {
  if (!std::isfinite(one.value) || one.value <= 0) return std::nullopt;
  if (one.under != its.under) its = {one.under, {}, 0};
  its.latest.push_back(one.value);
  if (its.latest.size() < measured_together) return std::nullopt;
  const auto middle = its.latest.begin() + measured_together / 2;
  std::nth_element(its.latest.begin(), middle, its.latest.end());
  const double now = *middle, before = its.level == 0 ? now : its.level;
  its.latest.clear();
  const bool is_other = now > drift * before || now * drift < before;
  if (its.level == 0 || is_other) its.level = now;
  return is_other ? std::optional<double>(now / before) : std::nullopt;
}

event event_source::appear(subject_id of) {
  m_paces.erase(of);  // its number may have been another's
  return {std::string(events::appeared), of, 0};
}

event event_source::leave(subject_id of) {
  m_paces.erase(of);
  return {std::string(events::gone), of, 0};
}

void event_source::add_drifts(const snapshot& now, std::vector<event>& out) {
  for (const subject_state& state : now.subjects)
    for (const measurement& each : state.measured)
      if (const auto times = add(m_paces[state.id], each)) out.push_back({std::string(events::drifted), state.id, *times});
}

void event_source::add_cpus(const snapshot& now, std::vector<event>& out) {
  if (const figure* const delayed = find_figure(now.figures, figures::run_delay_share); delayed != nullptr) {
    const bool is_change = m_is_crowded ? delayed->value < calm_share : delayed->value >= crowded_share;
    if (is_change) {
      m_is_crowded = !m_is_crowded;
      out.push_back({std::string(m_is_crowded ? events::crowded : events::calm), 0, delayed->value});
    }
  }
  const figure* const allowed = find_figure(now.figures, figures::allowed_cpus);
  if (allowed == nullptr || !(allowed->value > 0)) return;
  const double quota = figure_or(now.figures, figures::quota_cpus, 0);
  const double cpus = quota > 0 ? std::min(allowed->value, quota) : allowed->value;
  if (m_cpus != 0 && cpus != m_cpus) out.push_back({std::string(events::cpus), 0, cpus});
  m_cpus = cpus;
}

}  // namespace trimtab::steer
