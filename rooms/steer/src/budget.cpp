#include "trimtab/steer/budget.hpp"

#include <algorithm>

namespace trimtab::steer {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void level::add(double value) {
  if (m_recent.size() < kept) {
    m_recent.push_back(value);
  } else {
    m_recent[m_next] = value;
    m_next = (m_next + 1) % kept;
  }
}

double level::value() const { return median_of(m_recent); }

void budget::charge_trial(decision_number trial, double seconds, double value, double incumbent) {
  if (value <= 0) return;
  if (m_trials.size() == most_open && !m_trials.contains(trial)) m_trials.erase(m_trials.begin());
  double& trial_cost = m_trials[trial];
  const double before = std::max(trial_cost, 0.0);
  trial_cost += seconds * (1 - incumbent / value);
  m_spent_s += std::max(trial_cost, 0.0) - before;
}

}  // namespace trimtab::steer
