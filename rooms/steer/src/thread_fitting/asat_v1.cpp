#include "trimtab/steer/thread_fitting/asat_v1.hpp"

#include <cmath>

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

void asat_v1::begin_anew(double) {
  m_bad = 0;
  m_planned_drop = 0;
}

std::optional<thread_fitting::verdict> asat_v1::judge_iterations(const situation& now) {
  const auto number = now.figure_of(figures::evaluations), spread = now.figure_of(figures::iterations_spread);
  if (!number || !spread || *number == m_evaluated) return std::nullopt;
  // The team stops measuring after a bad evaluation until it was judged. So those that were not seen here were good.
  if (*number > m_evaluated + 1) m_bad = 0;
  m_evaluated = *number;
  m_bad = *spread > m_options.bad_spread ? m_bad + 1 : 0;
  if (m_bad < m_options.bad_trig || !now.fewer) return std::nullopt;
  m_planned_drop = 0;
  return verdict{*now.fewer, "threads do unequal shares of 1000 empty iterations",
                 now.evidence({figures::iterations_spread})};
}

std::optional<thread_fitting::verdict> asat_v1::judge_load(const situation& now) {
  const auto number = now.figure_of(figures::load_readings), load = now.figure_of(figures::load_average),
             cpus = now.figure_of(figures::online_cpus);
  if (!number || !load || !cpus || *number == m_load_read) return std::nullopt;
  m_load_read = *number;
  if (std::round(*load) >= *cpus || !now.more) return std::nullopt;
  m_planned_drop = 0;
  return verdict{*now.more, "the load average leaves room for one more thread",
                 now.evidence({figures::load_average, figures::online_cpus})};
}

// What the team changes by itself, at the start of the region whose evaluation is bad. The team counts bad evaluations in a
// row as well: even ones that are not seen here do not leave it with a plan that is too old.
std::optional<thread_fitting::verdict> asat_v1::plan(const situation& now) {
  const knob_value drop = m_bad + 1 >= m_options.bad_trig && now.fewer ? *now.fewer : 0;
  if (drop == m_planned_drop) return std::nullopt;
  m_planned_drop = drop;
  verdict planned{now.threads,
                  drop > 0 ? "one more bad evaluation in a row takes a thread" : "one bad evaluation takes no thread",
                  now.evidence({figures::iterations_spread})};
  planned.threads_if_bad = drop;
  return planned;
}

std::optional<thread_fitting::verdict> asat_v1::judge(const situation& now) {
  if (auto dropped = judge_iterations(now)) return dropped;
  if (auto added = judge_load(now)) return added;
  return plan(now);
}

}  // namespace trimtab::steer
