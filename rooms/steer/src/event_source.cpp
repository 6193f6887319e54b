#include "trimtab/steer/event_source.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

std::optional<double> event_source::add(pace& known_pace, const measurement& taken) {
  if (!std::isfinite(taken.value) || taken.value <= 0) return std::nullopt;
  if (taken.under != known_pace.under) known_pace = {taken.under, {}, 0};
  known_pace.latest.push_back(taken.value);
  if (known_pace.latest.size() < measured_together) return std::nullopt;
  const auto middle = known_pace.latest.begin() + measured_together / 2;
  std::nth_element(known_pace.latest.begin(), middle, known_pace.latest.end());
  const double now = *middle, before = known_pace.level == 0 ? now : known_pace.level;
  known_pace.latest.clear();
  const bool is_new_level = now > drift * before || now * drift < before;
  if (known_pace.level == 0 || is_new_level) known_pace.level = now;
  return is_new_level ? std::optional<double>(now / before) : std::nullopt;
}

event event_source::appear(subject_id id) {
  m_paces.erase(id);  // its number may have been another's
  return {std::string(events::appeared), id, 0};
}

event event_source::leave(subject_id id) {
  m_paces.erase(id);
  return {std::string(events::gone), id, 0};
}

void event_source::add_drifts(const snapshot& now, std::vector<event>& out) {
  for (const subject_state& state : now.subjects)
    for (const measurement& measurement : state.measured)
      if (const auto times = add(m_paces[state.id], measurement))
        out.push_back({std::string(events::drifted), state.id, *times});
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
