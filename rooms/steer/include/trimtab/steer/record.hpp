// Writes the engine's decisions into the run directory. On the steering thread; where nothing is recorded it does nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/engine.hpp"

namespace trimtab::steer {

class decision_record {
 public:
  explicit decision_record(observe::recorder& into) noexcept : m_into(into) {}

  // Its knobs, once; `key` names the subject the same in every run of the same build (settings.hpp).
  void add(const subject_info& subject, std::string_view key);
  // At these ticks. The subject must have been added; its number is that of the recorder's.
  void write(const decision& made, base::ticks at);
  // At the end, or when it has changed: which policies were disabled and why, how much search cost, what was refused.
  void write(const engine& steering);

 private:
  observe::recorder& m_into;
  std::map<subject_id, std::vector<std::uint32_t>> m_knobs;
  std::map<std::string, std::uint16_t, std::less<>> m_policies;
  std::map<std::string, bool, std::less<>> m_told;  // policies known to be disabled
};

}  // namespace trimtab::steer
