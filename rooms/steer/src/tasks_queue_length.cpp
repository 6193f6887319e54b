#include "trimtab/steer/tasks_queue_length.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

namespace {

// An empty queue is short, not infinitely shorter than one of a task.
double ratio(double length, double reference) { return (length + 0.5) / (reference + 0.5); }

}  // namespace

void queue_length_climb::observe(const view& now, std::vector<proposal>& out) {
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(m_knob);
    if (!place || subject.is_others) continue;
    const double since_s = m_time_s < 0 ? 0 : now.time_s - m_time_s;
    m_time_s = now.time_s;
    const double length = figure_or({subject.figures.begin(), subject.figures.end()}, figures::queue_length, -1);
    const double work = figure_or({subject.figures.begin(), subject.figures.end()}, figures::work_share, 0);
    if (std::exchange(m_skips, false) || length < 0 || work < m_options.least_work) return;
    m_worked_s += since_s;
    m_sum += since_s * length;
    if (m_worked_s < m_options.period_s) return;
    const double mean = m_sum / m_worked_s;
    m_worked_s = m_sum = 0;
    return period(subject, *place, mean, out);
  }
}

void queue_length_climb::begin(const subject_view& subject, std::uint32_t place, double length, std::vector<proposal>& out) {
  const domain& values = subject.info.knobs[place].values;
  m_last = values.size() - 1;
  const double cpus = figure_or({subject.figures.begin(), subject.figures.end()}, figures::cpus, 0);
  while (cpus >= 1 && m_last > 0 && static_cast<double>(values.at(m_last)) > cpus) --m_last;
  m_best_length = length;
  if (values.nearest_index(subject.in_force[place]) > m_last)
    return go(subject, place, m_last, "queues say nothing with more workers than CPUs", out);
  m_best = m_tried = values.nearest_index(subject.in_force[place]);
  m_step = std::max<std::size_t>(1, (m_last + 1) / 4);
  m_direction = -1;
  m_failures = 0;
  m_phase = phase::climbing;
  next(subject, place, out);
}

void queue_length_climb::period(const subject_view& subject, std::uint32_t place, double length,
                                std::vector<proposal>& out) {
  switch (m_phase) {
    case phase::begin:
      return begin(subject, place, length, out);
    case phase::climbing: {
      const double change = ratio(length, m_best_length) - 1;
      const bool is_fewer = m_tried < m_best;
      if (is_fewer ? change <= m_options.least_change : change < -m_options.least_change) {
        m_best = m_tried;
        // The least there was: many steps of hardly a change are one.
        m_best_length = std::min(m_best_length, length);
        m_failures = 0;
      } else {
        m_direction = -m_direction;
        m_failures += 1;
      }
      return next(subject, place, out);
    }
    case phase::settled:
      m_drifted = std::abs(std::log(ratio(length, m_best_length))) > std::log1p(m_options.drift) ? m_drifted + 1 : 0;
      if (m_drifted >= m_options.drift_periods) m_phase = phase::begin;
  }
}

void queue_length_climb::next(const subject_view& subject, std::uint32_t place, std::vector<proposal>& out) {
  for (;;) {
    if (m_failures >= 2) {
      if (m_step == 1) break;
      m_step /= 2;
      m_failures = 0;
    }
    const bool is_downward = m_direction < 0;
    const std::size_t room = is_downward ? m_best : m_last - m_best;
    if (room > 0) {
      const std::size_t step = std::min(m_step, room);
      m_tried = is_downward ? m_best - step : m_best + step;
      return go(subject, place, m_tried, "the length of queues at it is to be seen", out);
    }
    m_direction = -m_direction;
    m_failures += 1;
  }
  m_phase = phase::settled;
  m_drifted = 0;
  char text[80];
  std::snprintf(text, sizeof text, "queues were shortest: %.1f tasks", m_best_length);
  go(subject, place, m_best, text, out);
}

void queue_length_climb::go(const subject_view& subject, std::uint32_t place, std::size_t to, std::string reason,
                            std::vector<proposal>& out) {
  const knob_value value = subject.info.knobs[place].values.at(to);
  if (value == subject.in_force[place]) return;
  proposal proposed;
  proposed.subject = subject.info.id;
  proposed.what = outcome::set;
  proposed.changes = {{place, value}};
  proposed.reason = std::move(reason);
  proposed.evidence = {{std::string(figures::queue_length), m_best_length}};
  out.push_back(std::move(proposed));
  m_skips = true;
}

}  // namespace trimtab::steer
