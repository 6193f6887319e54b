// What search has cost a run, and what it may: trials above the incumbent's level, and changes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

// The level of an objective: the median of the latest measurements. One disturbed measurement does not move it.
class level {
 public:
  void add(double value);
  void forget() noexcept {
    m_recent.clear();
    m_next = 0;
  }
  bool is_known() const noexcept { return !m_recent.empty(); }
  double value() const;                         // 0 while nothing is known
  double seconds() const { return m_seconds; }  // of the latest measurement
  void took(double seconds) noexcept { m_seconds = seconds; }

 private:
  static constexpr std::size_t kept = 9;
  std::vector<double> m_recent;  // a ring
  std::size_t m_next = 0;
  double m_seconds = 0;
};

class budget {
 public:
  budget(double share, double allowance_s) noexcept : m_share(share), m_allowance_s(allowance_s) {}

  // A trial is charged with what all its measurements together took above the incumbent's level. Less than none is none:
  // what one trial gains pays for no other.
  void charge_trial(decision_number trial, double seconds, double value, double incumbent);
  void charge_change(double seconds) noexcept { m_spent_s += seconds; }

  double spent_s() const noexcept { return m_spent_s; }
  double left_s(double time_s) const noexcept { return m_share * time_s + m_allowance_s - m_spent_s; }

 private:
  static constexpr std::size_t most_open = 256;  // what older ones gained is forgotten
  double m_share;
  double m_allowance_s;
  double m_spent_s = 0;
  std::map<decision_number, double> m_trials;  // above the incumbent so far, may be negative
};

double median_of(std::vector<double> values);  // 0 of none

}  // namespace trimtab::steer
