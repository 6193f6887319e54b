#include "trimtab/steer/placement.hpp"

#include <utility>

#include "printed.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

void placement::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) m_states.erase(each);
  for (const subject_view& each : now.subjects) {
    const auto place = each.info.place_of(knobs::moved);
    const figure* const sharing = find_figure(each.figures, figures::sharing_threads);
    const figure* const look = find_figure(each.figures, figures::windows);
    if (!place || sharing == nullptr || look == nullptr) continue;
    state& of = m_states[each.info.id];
    if (std::exchange(of.look, look->value) == look->value) continue;
    const knob_value next = each.in_force[*place] + 1;
    if (sharing->value == 0 || now.time_s < of.paused_until_s) continue;
    if (!each.info.knobs[*place].values.contains(next)) continue;
    of.paused_until_s = now.time_s + pause_s;
    proposal made;
    made.subject = each.info.id;
    made.what = outcome::set;
    made.changes = {{*place, next}};
    made.reason = printed("%.0f of its threads ran on a CPU of another one, while a CPU had none", sharing->value);
    made.evidence = {*sharing};
    out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer
