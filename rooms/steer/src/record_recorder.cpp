// The recorder as target. Apart from the record itself, so that programs which write through trimtab.h link no recorder.
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/record.hpp"

namespace trimtab::steer {

namespace {

class recorder_target final : public record_target {
 public:
  explicit recorder_target(observe::recorder& target) noexcept : m_into(target) {}
  std::uint32_t add_knob(subject_id subject, const char* name, const char* key, const char* value_names) override {
    return m_into.add_knob(subject, name, key, value_names);
  }
  std::uint16_t add_policy(const char* name) override { return m_into.add_policy(name); }
  void decide(const observe::decision& record) override { m_into.decide(record); }
  void fact(const char* key, const char* value) override { m_into.fact(key, value); }
  void unavailable(const char* feature, const char* reason, const char* remedy) override {
    m_into.unavailable(feature, reason, remedy);
  }

 private:
  observe::recorder& m_into;
};

}  // namespace

std::unique_ptr<record_target> target_of(observe::recorder& target) { return std::make_unique<recorder_target>(target); }

}  // namespace trimtab::steer
