// The policy that sets what earlier runs found, for each subject once, when it appears. Alone in an engine it is the frozen
// mode: a run with exactly these settings and no search.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "trimtab/observe/words.hpp"
#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::steer {

class history_policy : public policy {
 public:
  // `key_of` names a subject as the settings do, the same in every run of the same build.
  history_policy(std::vector<setting> settings, std::function<std::string(const subject_info&)> key_of)
      : m_settings(std::move(settings)), m_key_of(std::move(key_of)) {}
  std::string_view name() const noexcept override { return observe::words::policy_name::history; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

  // Settings that did not fit their subject: of another version of the adapter.
  const std::vector<std::string>& misfits() const noexcept { return m_misfits; }

 private:
  std::vector<setting> m_settings;
  std::function<std::string(const subject_info&)> m_key_of;
  std::set<subject_id> m_seen;
  std::vector<std::string> m_misfits;
};

}  // namespace trimtab::steer
