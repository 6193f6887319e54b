#include "trimtab/steer/trial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trimtab/steer/budget.hpp"

namespace trimtab::steer {

namespace {

double mean_of(const std::array<double, 3>& capitals) {
  return std::accumulate(capitals.begin(), capitals.end(), 0.0) / static_cast<double>(capitals.size());
}

// The greatest k such that the sum of signed ranks of n pairs is below k with a probability of at most 2.5 %.
std::size_t wilcoxon_rank(std::size_t n) {
  const std::size_t pairs = n * (n + 1) / 2;
  if (n > 25) {
    const double mean = static_cast<double>(pairs) / 2;
    const double spread = std::sqrt(static_cast<double>(pairs) * (2 * static_cast<double>(n) + 1) / 12);
    return static_cast<std::size_t>(std::max(0.0, mean - 1.96 * spread));
  }
  std::vector<double> ways(pairs + 1, 0);  // subsets of the ranks 1 .. n with that sum
  ways[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t sum = pairs; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  double lower_sum = 0;
  std::size_t k = 0;
  while (k <= pairs && (lower_sum += ways[k]) <= 0.025 * std::exp2(static_cast<double>(n))) ++k;
  return k;
}

}  // namespace

estimate gain_of(const std::vector<double>& log_ratios) {
  estimate result;
  result.pairs = static_cast<std::uint32_t>(log_ratios.size());
  if (log_ratios.empty()) return result;
  std::vector<double> means;
  for (std::size_t i = 0; i < log_ratios.size(); ++i)
    for (std::size_t j = i; j < log_ratios.size(); ++j) means.push_back((log_ratios[i] + log_ratios[j]) / 2);
  std::sort(means.begin(), means.end());
  // Of few pairs the interval is all that there is.
  const std::size_t k = std::max<std::size_t>(1, wilcoxon_rank(log_ratios.size()));
  result.gain = 1 - std::exp(median_of(means));
  result.uncertainty = (std::exp(means[means.size() - k]) - std::exp(means[k - 1])) / 2;
  return result;
}

estimate paired_trial::gain() const { return gain_of(m_logs); }

verdict paired_trial::add(double candidate, double incumbent) {
  if (m_verdict != verdict::open || !(candidate > 0) || !(incumbent > 0)) return m_verdict;
  const double ratio = candidate / incumbent;
  m_logs.push_back(std::log(ratio));
  const bool is_won = ratio < 1 - m_options.least_gain / 2;
  for (std::size_t i = 0; i < stakes.size(); ++i) {
    m_for[i] *= is_won ? 1 + stakes[i] : 1 - stakes[i];
    m_against[i] *= is_won ? 1 - stakes[i] : 1 + stakes[i];
  }
  const bool is_clearly_worse = ratio > m_options.clearly_worse;
  if (mean_of(m_for) >= 1 / m_options.alpha) {
    // Won for sure, but by how much? A gain that is not worth a change is none.
    m_verdict = gain().gain >= m_options.least_gain ? verdict::better : verdict::not_better;
  } else if (mean_of(m_against) >= 1 / m_options.futility || (is_clearly_worse && m_was_clearly_worse) ||
             pairs() >= m_options.most_pairs) {
    m_verdict = verdict::not_better;
  }
  m_was_clearly_worse = is_clearly_worse;
  return m_verdict;
}

}  // namespace trimtab::steer
