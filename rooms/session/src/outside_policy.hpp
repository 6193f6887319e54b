// A policy that another process runs: snapshots go out, proposals come in, as files of the process's folder in the run, each
// replaced as a whole. What is proposed is checked by the engine as any policy's. What cannot be understood, no answer in
// time, and a failure that the other side tells end it: it throws, so that the engine disables it. docs/policies.md has the
// formats.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "trimtab/steer/policy.hpp"

namespace trimtab::session {

struct outside_limits {
  double period_s = 0.1;  // between snapshots, at least
  double answer_s = 5;    // for an answer
  double begin_s = 30;    // for the first one: the other process starts with this one
  double look_s = 0.02;   // between looks for an answer
};

class outside_policy : public steer::policy {
 public:
  // key_of: what settings call the subject.
  outside_policy(std::string name, std::string folder, std::function<std::string(const steer::subject_info&)> key_of,
                 outside_limits limits = {});
  std::string_view name() const noexcept override { return m_name; }
  steer::cadence when() const override { return {m_limits.look_s, {}}; }
  void observe(const steer::view& now, std::vector<steer::proposal>& out) override;

 private:
  void ask(const steer::view& now);
  bool take_answer(const steer::view& now, std::vector<steer::proposal>& out);

  std::string m_name, m_folder;
  std::function<std::string(const steer::subject_info&)> m_key_of;
  outside_limits m_limits;
  std::map<steer::subject_id, std::vector<steer::measurement>> m_measured;  // since the snapshot before
  std::uint64_t m_number = 0;                                               // of the last snapshot
  bool m_is_waiting = false;                                                // for its answer
  bool m_has_answered = false;                                              // ever
  double m_asked_s = 0;
};

}  // namespace trimtab::session
