// Is the candidate better than the incumbent? Both are measured in pairs, one after the other, in an order that a coin
// decides, so that no pattern of the program (a small and a large instance in turn) speaks for one of them. What counts is
// who wins a pair: one disturbed measurement is one lost pair, however long it took.
//
// The test is sequential: after each pair it may end, and still a candidate that is no better is accepted with a probability
// of at most `alpha`. It bets: a fair game's capital is 1 / alpha or more at any time with a probability of at most alpha
// (Ville 1939; Waudby-Smith, Ramdas 2023). The capital is the mean of three gamblers, who put 30, 60 and 90 % of theirs on
// every pair.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trimtab/steer/decision.hpp"

namespace trimtab::steer {

enum class verdict : std::uint8_t { open, better, not_better };

struct trial_options {
  double alpha = 0.05;
  double least_gain =
      0.02;               // a pair is won when the candidate saves more than half of this share; the median must save it all
  double futility = 0.2;  // not_better: the capital of those who bet against reaches the inverse of this
  double clearly_worse = 1.3;     // not_better: two pairs in turn with a ratio above this
  std::uint32_t most_pairs = 40;  // then not_better
};

class paired_trial {
 public:
  explicit paired_trial(trial_options options = {}) noexcept : m_options(options) {}

  // One pair; both above 0.
  verdict add(double candidate, double incumbent);
  verdict judged() const noexcept { return m_verdict; }
  std::uint32_t pairs() const noexcept { return static_cast<std::uint32_t>(m_logs.size()); }
  estimate gain() const;

 private:
  static constexpr std::array<double, 3> stakes{0.3, 0.6, 0.9};
  trial_options m_options;
  std::array<double, 3> m_for{1, 1, 1}, m_against{1, 1, 1};
  std::vector<double> m_logs;  // of the ratios candidate / incumbent
  bool m_was_clearly_worse = false;
  verdict m_verdict = verdict::open;
};

// Gain from the logarithms of ratios: Hodges and Lehmann's estimate and the interval that belongs to Wilcoxon's signed
// ranks.
estimate gain_of(const std::vector<double>& log_ratios);

}  // namespace trimtab::steer
