#include "trimtab/parcels/view/placement.hpp"

#include <algorithm>

namespace trimtab::parcels {

placement::placement(std::uint32_t localities, locality_number self, const placement_options& settings)
    : m_self(self), m_settings(settings), m_random(settings.seed + self), m_sent(localities), m_sums(localities) {}

void placement::pass_periods(std::uint64_t count) noexcept {
  const std::uint64_t cleared = std::min<std::uint64_t>(count, remembered_periods);
  m_period += count;
  for (sent_tasks& sent : m_sent)
    for (std::uint64_t i = 0; i < cleared; ++i) sent.by_period[(m_period - i) % remembered_periods] = 0;
}

double placement::sent_since(locality_number which, const placement_load& load) const {
  // The own load is read when it is used.
  if (which == m_self) return 0;
  const std::uint64_t all = std::min<std::uint64_t>(m_period + 1, remembered_periods);
  const std::uint64_t periods = load.is_known ? std::min<std::uint64_t>(std::uint64_t{load.age} + 1, all) : all;
  double sum = 0;
  for (std::uint64_t i = 0; i < periods; ++i) sum += m_sent[which].by_period[(m_period - i) % remembered_periods];
  return sum;
}

std::uint64_t placement::sent() const noexcept {
  std::uint64_t sum = 0;
  for (const sent_tasks& one : m_sent)
    for (const std::uint32_t tasks : one.by_period) sum += tasks;
  return sum;
}

double placement::weight_of(locality_number which, const placement_load& load, double senders) const {
  if (!load.is_present) return 0;
  const double tasks = (load.is_known ? std::max(load.tasks, 0.0) : 0.0) + senders * sent_since(which, load);
  const double weight = std::max(load.is_known ? load.workers : 1.0, 1.0) / (tasks + 1);
  return which == m_self ? weight * m_settings.local_preference : weight;
}

locality_number placement::choose(std::span<const placement_load> loads, double senders) {
  double sum = 0;
  for (locality_number which = 0; which < loads.size(); ++which)
    m_sums.at(which) = sum += weight_of(which, loads[which], senders);
  const double drawn = m_random.share() * sum;
  const auto end = m_sums.begin() + static_cast<std::ptrdiff_t>(loads.size());
  const auto position = std::upper_bound(m_sums.begin(), end, drawn);
  // Nobody has a weight, or rounding: the task stays.
  const locality_number chosen = position == end ? m_self : static_cast<locality_number>(position - m_sums.begin());
  if (chosen != m_self) m_sent[chosen].by_period[m_period % remembered_periods] += 1;
  return chosen;
}

}  // namespace trimtab::parcels
