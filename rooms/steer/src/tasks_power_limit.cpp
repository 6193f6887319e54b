#include "trimtab/steer/tasks_power_limit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

void power_limit::observe(const view& now, std::vector<proposal>& out) {
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(m_knob);
    const double watts = figure_or({subject.figures.begin(), subject.figures.end()}, figures::watts, -1);
    if (!place || subject.is_others || watts < 0) continue;
    const double since_s = m_time_s < 0 ? 0 : now.time_s - m_time_s;
    m_time_s = now.time_s;
    m_seconds += since_s;
    m_joules += since_s * watts;
    if (m_seconds < m_options.period_s) return;
    const double mean = m_joules / m_seconds;
    m_seconds = m_joules = 0;
    return period(subject, *place, mean, out);
  }
}

void power_limit::period(const subject_view& subject, std::uint32_t place, double watts, std::vector<proposal>& out) {
  const domain& values = subject.info.knobs[place].values;
  const knob_value cap = subject.in_force[place];
  if (m_before != 0 && cap != m_before) {
    const double watts_of_worker = (watts - m_watts_before) / static_cast<double>(cap - m_before);
    // The program changes what it does as well: only what a worker can take is believed, and not at once.
    if (watts_of_worker > 0 && watts_of_worker < watts)
      m_worker_w = m_worker_w == 0 ? watts_of_worker : (m_worker_w + watts_of_worker) / 2;
  }
  m_before = cap;
  m_watts_before = watts;
  // Until it is known: less than an even share, since the packages take power without workers as well.
  const double worker_w = m_worker_w > 0 ? m_worker_w : watts / static_cast<double>(std::max<knob_value>(1, cap)) / 2;
  const std::size_t index = values.nearest_index(cap);
  std::size_t to = index;
  if (watts > m_options.limit_w) {
    const double surplus = std::ceil((watts - m_options.limit_w) / std::max(worker_w, 1e-6));
    to -= std::min(index, static_cast<std::size_t>(std::clamp(surplus, 1.0, 1e6)));
  } else if (index + 1 < values.size() && watts + worker_w < m_options.limit_w * (1 - m_options.room)) {
    // As many as there is room for, once it is known what one takes.
    const double room = std::floor((m_options.limit_w * (1 - m_options.room) - watts) / std::max(worker_w, 1e-6));
    const double added = m_worker_w > 0 ? room : 1;
    to += std::min(values.size() - 1 - index, static_cast<std::size_t>(std::clamp(added, 1.0, 1e6)));
  }
  if (to == index) return;
  proposal proposed;
  proposed.subject = subject.info.id;
  proposed.what = outcome::set;
  proposed.changes = {{place, values.at(to)}};
  char text[96];
  std::snprintf(text, sizeof text, "%.1f W, limit %.1f W", watts, m_options.limit_w);
  proposed.reason = text;
  proposed.evidence = {{std::string(figures::watts), watts}};
  out.push_back(std::move(proposed));
}

}  // namespace trimtab::steer
