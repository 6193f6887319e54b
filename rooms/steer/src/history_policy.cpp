#include "trimtab/steer/history_policy.hpp"

namespace trimtab::steer {

void history_policy::observe(const view& now, std::vector<proposal>& out) {
  // A number may come to stand for another subject.
  for (const subject_id gone : now.gone) m_seen.erase(gone);
  for (const subject_view& subject : now.subjects) {
    if (subject.is_others || !m_seen.insert(subject.info.id).second) continue;
    std::string reason;
    const std::vector<change> changes = changes_of(m_settings, m_key_of(subject.info), subject.info, reason);
    if (!reason.empty()) m_misfits.push_back(std::move(reason));
    if (changes.empty()) continue;
    proposal proposed;
    proposed.subject = subject.info.id;
    proposed.what = outcome::set;
    proposed.reason = observe::words::decision_reason::earlier_run;
    for (const change& saved : changes) proposed.changes.push_back({saved.knob, saved.to});
    out.push_back(std::move(proposed));
  }
}

}  // namespace trimtab::steer
