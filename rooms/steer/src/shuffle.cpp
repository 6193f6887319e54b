#include "trimtab/steer/shuffle.hpp"

namespace trimtab::steer {

void shuffle::observe(const view& now, std::vector<proposal>& out) {
  if (now.is_last) return;
  for (const subject_view& each : now.subjects) {
    proposal made;
    made.subject = each.info.id;
    made.what = outcome::set;
    made.reason = "by lot";
    for (std::uint32_t i = 0; i < each.info.knobs.size(); ++i) {
      const knob& its = each.info.knobs[i];
      if (its.asks == consent::needed && !now.has_consent) continue;
      const knob_value to = its.values.at(m_random.below(its.values.size()));
      if (to != each.in_force[i]) made.changes.push_back({i, to});
    }
    if (!each.is_others && !made.changes.empty()) out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer
