#include "repeated_work.hpp"

#include <algorithm>
#include <utility>

namespace trimtab::task_steering {

namespace {

// The first of all meets cold memory.
constexpr std::uint32_t first_skipped = 1, first_seen = 6;
constexpr std::size_t most_kept = 1024;

}  // namespace

repeated_work::begun repeated_work::begin() noexcept {
  const double joules = m_cap.costs().joules();
  const std::lock_guard guard(m_lock);
  return {m_size, m_under, m_cap.under(), joules};
}

void repeated_work::end(const begun& repetition, double seconds, double units) noexcept {
  if (!(seconds > 0) || !(units > 0)) return;
  const cost_meter& costs = m_cap.costs();
  const resources used{seconds, m_cap.costs().joules() - repetition.joules};
  double ratio = 0;
  {
    const std::lock_guard guard(m_lock);
    m_most_units = std::max(m_most_units, units);
    m_total.seconds += seconds;
    m_total.units += units;
    if (m_seen < first_seen && m_seen++ >= first_skipped) {
      m_first += used;
      m_first_units += units;
    }
    if (const double first = m_first_units > 0 ? costs.cost_of_unit(m_first, m_first_units) : 0; first > 0)
      ratio = costs.cost_of_unit(used, units) / first;
    if (repetition.under == m_under && m_measured.size() < most_kept) {
      if (m_joined.under != m_under) m_joined = {m_under, {}, 0};
      m_joined.used += used;
      m_joined.units += units;
      if (m_joined.used.seconds >= costs.shortest_s()) {
        m_measured.push_back({m_under, costs.cost_of_unit(m_joined.used, m_joined.units), m_joined.used.seconds});
        m_joined = {m_under, {}, 0};
      }
    }
  }
  if (ratio > 0) m_cap.ran(repetition.workers_under, seconds, ratio);
}

void repeated_work::turn(std::int64_t size) noexcept {
  const std::lock_guard guard(m_lock);
  m_size = size;
}

void repeated_work::in_force(steer::decision_number number) noexcept {
  const std::lock_guard guard(m_lock);
  m_under = number;
}

std::vector<steer::measurement> repeated_work::take() {
  const std::lock_guard guard(m_lock);
  return std::exchange(m_measured, {});
}

repeated_work::known repeated_work::so_far() noexcept {
  const std::lock_guard guard(m_lock);
  if (m_seen < first_seen || m_first_units <= 0) return {};
  return {m_first.seconds / m_first_units, m_most_units};
}

repeated_work::all repeated_work::total() noexcept {
  const std::lock_guard guard(m_lock);
  return m_total;
}

}  // namespace trimtab::task_steering
