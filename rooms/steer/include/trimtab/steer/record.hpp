// Writes the engine's decisions into the run directory. On the steering thread; where nothing is recorded it does nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/engine.hpp"

namespace trimtab::steer {

// Who writes them: the recorder of this process, or, for what is linked into a program, trimtab.h.
class record_target {
 public:
  virtual ~record_target() = default;
  virtual std::uint32_t add_knob(subject_id subject, const char* name, const char* key, const char* value_names) = 0;
  virtual std::uint16_t add_policy(const char* name) = 0;
  virtual void decide(const observe::decision& record) = 0;
  virtual void fact(const char* key, const char* value) = 0;
  virtual void unavailable(const char* feature, const char* reason, const char* remedy) = 0;
};
std::unique_ptr<record_target> target_of(observe::recorder& target);

class decision_record {
 public:
  explicit decision_record(std::unique_ptr<record_target> target) noexcept : m_into(std::move(target)) {}
  // Inline, so that what is linked into programs, which have no recorder, asks for none.
  explicit decision_record(observe::recorder& target) : decision_record(target_of(target)) {}

  // Its knobs, each once: those that a subject has when it appears again follow the ones before; `key` names the subject the
  // same in every run of the same build (settings.hpp).
  void add(const subject_info& subject, std::string_view key);
  // Their numbers in the records, by place.
  const std::vector<std::uint32_t>& knobs_of(subject_id subject) { return m_knobs[subject]; }
  // At these ticks. The subject must have been added; its number is that of the target's.
  void write(const decision& decision_made, base::ticks at);
  // At the end, or when it has changed: which policies were disabled and why, how much search cost, what was refused.
  void write(const engine& steering);

 private:
  std::unique_ptr<record_target> m_into;
  std::map<subject_id, std::vector<std::uint32_t>> m_knobs;
  std::map<std::string, std::uint16_t, std::less<>> m_policies;
  std::map<std::string, bool, std::less<>> m_told;  // policies known to be disabled
};

}  // namespace trimtab::steer
