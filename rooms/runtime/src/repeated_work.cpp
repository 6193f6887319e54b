#include "repeated_work.hpp"

#include <algorithm>
#include <utility>

namespace trimtab::task_steering {

namespace {

// The first of all meets cold memory.
constexpr std::uint32_t first_skipped = 1, first_seen = 6;
// Shorter ones are joined.
constexpr double least_s = 1e-4;
constexpr std::size_t most_kept = 1024;

}  // namespace

repeated_work::begun repeated_work::begin() noexcept {
  const std::lock_guard guard(m_lock);
  return {m_size, m_under, m_cap.under()};
}

void repeated_work::end(const begun& repetition, double seconds, double units) noexcept {
  if (!(seconds > 0) || !(units > 0)) return;
  double ratio = 0;
  {
    const std::lock_guard guard(m_lock);
    m_most_units = std::max(m_most_units, units);
    m_total.seconds += seconds;
    m_total.units += units;
    if (m_seen < first_seen && m_seen++ >= first_skipped) {
      m_first_s += seconds;
      m_first_units += units;
    }
    if (m_first_s > 0) ratio = seconds / units / (m_first_s / m_first_units);
    if (repetition.under == m_under && m_measured.size() < most_kept) {
      if (m_joined.under != m_under) m_joined = {m_under, 0, 0}, m_joined_units = 0;
      m_joined.seconds += seconds;
      m_joined_units += units;
      if (m_joined.seconds >= least_s) {
        m_joined.value = m_joined.seconds / m_joined_units;
        m_measured.push_back(m_joined);
        m_joined = {m_under, 0, 0};
        m_joined_units = 0;
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
  if (m_seen < first_seen || m_first_s <= 0) return {};
  return {m_first_s / m_first_units, m_most_units};
}

repeated_work::all repeated_work::total() noexcept {
  const std::lock_guard guard(m_lock);
  return m_total;
}

}  // namespace trimtab::task_steering
