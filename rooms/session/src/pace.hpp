// How long the steering thread sleeps between two looks. Pure; by that thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace trimtab::session {

// Each look takes some 0.1 ms of a CPU that a program without a spare one takes from a team's member: 200 of them a second
// are one or two percent of its time. Who decides nothing has little to look for.
struct rhythm {
  double busy_for_s;  // from the beginning, and from each decision
  double calm_s;      // between two looks, after that
};
inline constexpr rhythm of_searches{0.1, 0.05};
inline constexpr rhythm of_recall{0.02, 0.1};  // settings of earlier runs are in force without us
// Fitted threads must not be late: the first windows are short.
inline constexpr rhythm of_fitting{0.4, 0.025};
inline constexpr rhythm of_others{2, 0.025};  // what a policy outside wants, who knows

class pace {
 public:
  static constexpr double busy_s = 0.005;
  // While threads lack CPUs: whoever makes room for a look has a team of short regions wait for it, a slice of the
  // scheduler's. Where what is measured takes long, each measurement may be what a decision waits for.
  static constexpr double crowded_s = 0.05;
  static constexpr double dull_s = 0.25;         // and where nothing is to be seen soon
  static constexpr double crowded_share = 0.05;  // run delay, of the threads' time
  static constexpr double long_s = 1e-3;         // one instance of a subject
  static constexpr double slow_rise = 1.25, none_for_s = 0.5;
  static constexpr double asks_every_s = 0.02, asks_while_calm_s = 0.5;

  explicit pace(const rhythm& sampling_rhythm = of_searches) noexcept : m_rhythm(sampling_rhythm) {}

  void decided(double now_s) noexcept { m_decided_s = now_s; }
  // An instance of that subject took so long. What lost its CPU for once is no longer for that.
  void measured(double now_s, std::uint32_t subject, double instance_s) {
    double& instance_known = m_instances_s.try_emplace(subject, instance_s).first->second;
    instance_known = std::min(instance_s, instance_known * slow_rise);
    if (instance_known >= long_s) m_long_s = now_s;
  }
  // Whether it is time to be told the run delay since it was told last. Which takes as long as a look: rarely while calm.
  bool asks(double now_s) const noexcept { return now_s - m_told_s >= (is_calm(now_s) ? asks_while_calm_s : asks_every_s); }
  void told(double now_s, std::optional<double> run_delay_share) noexcept {
    m_is_crowded = run_delay_share && *run_delay_share > crowded_share && now_s - m_long_s >= none_for_s;
    m_told_s = now_s;
  }
  // is_dull: nobody waits for anything that the next looks could show.
  double period_s(double now_s, bool is_dull = false) const noexcept {
    if (is_calm(now_s)) return m_is_crowded && is_dull ? dull_s : m_rhythm.calm_s;
    return m_is_crowded ? crowded_s : busy_s;
  }

 private:
  bool is_calm(double now_s) const noexcept { return now_s - m_decided_s >= m_rhythm.busy_for_s; }

  rhythm m_rhythm;
  double m_decided_s = 0, m_told_s = -asks_every_s, m_long_s = -none_for_s;
  std::unordered_map<std::uint32_t, double> m_instances_s;
  bool m_is_crowded = false;
};

}  // namespace trimtab::session
