// How long the steering thread sleeps between two looks. Pure; by that thread.
#pragma once

#include <cstddef>
#include <optional>

namespace trimtab::session {

class pace {
 public:
  static constexpr double busy_s = 0.005;
  static constexpr double calm_s = 0.025, calm_after_s = 2;  // without a decision
  // While threads lack CPUs: whoever makes room for a look has a team of short regions wait for it, a slice of the
  // scheduler's. Where there are few measurements, regions are long, and each of them may be what a decision waits for.
  static constexpr double crowded_s = 0.05;
  static constexpr double crowded_share = 0.05;  // run delay, of the threads' time
  static constexpr double plenty_per_s = 1000;   // measurements of a subject
  static constexpr double none_for_s = 0.5;
  static constexpr double asks_every_s = 0.02;

  void decided(double now_s) noexcept { m_decided_s = now_s; }
  void measured(double now_s, std::size_t count) noexcept {
    m_measured += count;
    if (count > 0) m_measured_s = now_s;
  }
  // Whether it is time to be told the run delay since it was told last.
  bool asks(double now_s) const noexcept { return now_s - m_told_s >= asks_every_s; }
  void told(double now_s, std::optional<double> run_delay_share) noexcept {
    const bool has_plenty = static_cast<double>(m_measured) >= plenty_per_s * (now_s - m_told_s);
    const bool has_none = now_s - m_measured_s >= none_for_s;
    m_is_crowded = run_delay_share && *run_delay_share > crowded_share && (has_plenty || has_none);
    m_told_s = now_s;
    m_measured = 0;
  }
  double period_s(double now_s) const noexcept {
    if (m_is_crowded) return crowded_s;
    return now_s - m_decided_s > calm_after_s ? calm_s : busy_s;
  }

 private:
  double m_decided_s = 0, m_told_s = -asks_every_s, m_measured_s = -none_for_s;
  std::size_t m_measured = 0;
  bool m_is_crowded = false;
};

}  // namespace trimtab::session
