#include "trimtab/steer/history_policy.hpp"

namespace trimtab::steer {

void history_policy::observe(const view& now, std::vector<proposal>& out) {
  // A number may come to stand for another subject.
  for (const subject_id each : now.gone) m_seen.erase(each);
  for (const subject_view& each : now.subjects) {
    if (each.is_others || !m_seen.insert(each.info.id).second) continue;
    std::string why;
    const std::vector<change> changes = changes_of(m_settings, m_key_of(each.info), each.info, why);
    if (!why.empty()) m_misfits.push_back(std::move(why));
    if (changes.empty()) continue;
    proposal made;
    made.subject = each.info.id;
    made.what = outcome::set;
    made.reason = observe::words::decision_reason::earlier_run;
    for (const change& known : changes) made.changes.push_back({known.knob, known.to});
    out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer
