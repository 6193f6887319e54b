// A policy that another process runs: snapshots go out, proposals come in, as text: of a watched
// process by files (observe/policy_files.hpp). What is proposed is checked by the engine as any policy's. What cannot be
// understood, no answer in time, and a failure that the other side tells end it: it throws, so that the engine disables it.
// docs/guide/policies.md has the formats.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

struct outside_limits {
  double period_s = 0.1;  // between snapshots, at least, unless it asks for another one
  double answer_s = 5;    // for an answer
  double begin_s = 30;    // for the first one: the other process starts with this one
  double look_s = 0.02;   // between looks for an answer
};

// The way to the other side and back. What they throw ends the policy.
struct outside_exchange {
  std::function<void(const std::string& snapshot)> ask;
  std::function<bool(std::string& into)> answer;  // the latest; false: there is none yet
};
// Kind of such a policy in a description (policy_factory.hpp); who builds an engine makes it. Its option: name.
inline constexpr std::string_view outside_kind = "outside";

class outside_policy : public policy {
 public:
  // key_of: what settings call the subject.
  outside_policy(std::string name, outside_exchange exchange, std::function<std::string(const subject_info&)> key_of,
                 outside_limits limits = {});
  std::string_view name() const noexcept override { return m_name; }
  cadence when() const override { return {m_limits.look_s, {}}; }
  void observe(const view& now, std::vector<proposal>& out) override;

  // For a recording: the answer that was taken in the latest call, and why the exchange failed in it. Emptied so.
  std::optional<std::string> take_answered() { return std::exchange(m_answered, std::nullopt); }
  std::optional<std::string> take_fault() { return std::exchange(m_fault, std::nullopt); }

 private:
  template <class work>
  auto exchanged(work action);
  void ask(const view& now);
  bool take_answer(const view& now, std::vector<proposal>& out);
  bool is_due(double time_s) const;

  std::string m_name;
  outside_exchange m_with;
  std::function<std::string(const subject_info&)> m_key_of;
  outside_limits m_limits;
  std::map<subject_id, std::vector<measurement>> m_measured;  // since the snapshot before
  std::vector<event> m_happened;                              // since then
  cadence m_when;                                             // as it has asked for
  std::uint64_t m_number = 0;                                 // of the last snapshot
  bool m_is_waiting = false;                                  // for its answer
  bool m_has_answered = false;                                // ever
  double m_asked_s = 0;
  std::optional<std::string> m_answered, m_fault;
};

}  // namespace trimtab::steer
