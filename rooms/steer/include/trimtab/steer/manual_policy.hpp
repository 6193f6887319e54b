// Sets what the user asks for while the program runs (manual_panel.hpp), and keeps other policies from the subject until the
// user undoes it. Requests come as events of snapshots, so that a replay has them, too.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trimtab/observe/words.hpp"
#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

// Names of events: one of these and the knob's name. Their value is the knob's.
namespace events {
inline constexpr std::string_view set_by_hand = "set-by-hand/", undo_by_hand = "undo-by-hand/";
}

class manual_policy final : public policy {
 public:
  static constexpr std::string_view kind = "by-hand";
  std::string_view name() const noexcept override { return observe::words::policy_name::by_hand; }
  bool is_search() const noexcept override { return false; }
  bool is_manual() const noexcept override { return true; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  void set(const subject_view& subject, std::uint32_t knob, knob_value to, std::vector<proposal>& out);
  void undo(const subject_view& subject, std::uint32_t knob, std::vector<proposal>& out);

  using values_before = std::map<std::uint32_t, knob_value>;  // by place of the knob
  std::map<subject_id, values_before> m_before;
};

}  // namespace trimtab::steer
