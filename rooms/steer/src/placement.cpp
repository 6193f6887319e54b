#include "trimtab/steer/placement.hpp"

#include <utility>

#include "printed.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

void placement::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_states.erase(gone);
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(knobs::moved);
    const figure* const sharing = find_figure(subject.figures, figures::sharing_threads);
    const figure* const look = find_figure(subject.figures, figures::windows);
    if (!place || sharing == nullptr || look == nullptr) continue;
    state& state_of_subject = m_states[subject.info.id];
    if (std::exchange(state_of_subject.look, look->value) == look->value) continue;
    const knob_value next = subject.in_force[*place] + 1;
    if (sharing->value == 0 || now.time_s < state_of_subject.paused_until_s) continue;
    if (!subject.info.knobs[*place].values.contains(next)) continue;
    state_of_subject.paused_until_s = now.time_s + pause_s;
    proposal proposed;
    proposed.subject = subject.info.id;
    proposed.what = outcome::set;
    proposed.changes = {{*place, next}};
    proposed.reason = printed("%.0f of its threads ran on a CPU of another one, while a CPU had none", sharing->value);
    proposed.evidence = {*sharing};
    out.push_back(std::move(proposed));
  }
}

}  // namespace trimtab::steer
