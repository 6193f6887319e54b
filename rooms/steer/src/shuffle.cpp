#include "trimtab/steer/shuffle.hpp"

namespace trimtab::steer {

void shuffle::observe(const view& now, std::vector<proposal>& out) {
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    proposal proposed;
    proposed.subject = subject.info.id;
    proposed.what = outcome::set;
    proposed.reason = "by lot";
    for (std::uint32_t i = 0; i < subject.info.knobs.size(); ++i) {
      const knob& knob = subject.info.knobs[i];
      if (knob.asks == consent::needed && !now.has_consent) continue;
      const knob_value to = knob.values.at(m_random.below(knob.values.size()));
      if (to != subject.in_force[i]) proposed.changes.push_back({i, to});
    }
    if (!subject.is_others && !proposed.changes.empty()) out.push_back(std::move(proposed));
  }
}

}  // namespace trimtab::steer
