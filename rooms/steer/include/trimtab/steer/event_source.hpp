// Events that follow from what an engine is told. The engine adds them to those that its adapter tells, for every adapter
// alike; of the snapshots alone, so that a replay has the same.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

namespace events {
inline constexpr std::string_view appeared = "appeared";  // a subject
inline constexpr std::string_view gone = "gone";          // a subject
inline constexpr std::string_view drifted = "drifted";    // a subject takes so many times what it took under the same values
inline constexpr std::string_view crowded = "crowded";    // threads have come to lack CPUs: for this share of their time
inline constexpr std::string_view calm = "calm";          // they have them again
inline constexpr std::string_view cpus = "cpus";          // the process may use so many now, and could use others before
}  // namespace events

class event_source {
 public:
  // Of a subject that the engine has taken in, and of one that it had.
  event appear(subject_id id);
  event leave(subject_id id);
  // What a snapshot says of subjects that were there before, and of the machine.
  void add_drifts(const snapshot& now, std::vector<event>& out);
  void add_cpus(const snapshot& now, std::vector<event>& out);

 private:
  static constexpr std::size_t measured_together = 9;  // their median is what counts
  static constexpr double drift = 1.25;                // times as long, or as short
  static constexpr double crowded_share = 0.1, calm_share = 0.02;

  struct pace {
    decision_number under = 0;
    std::vector<double> latest;
    double level = 0;  // 0: not known
  };
  std::optional<double> add(pace& known_pace, const measurement& taken);  // how many times the level, if that is another now

  std::map<subject_id, pace> m_paces;
  bool m_is_crowded = false;
  double m_cpus = 0;  // 0: not known
};

}  // namespace trimtab::steer
