#include "trimtab/steer/wait_policy.hpp"

#include <algorithm>

#include "trimtab/steer/fitting/figures.hpp"

namespace trimtab::steer {

namespace {

// Not at once (0): where waits are short, every barrier would have to wake its threads, and they to wait for a CPU.
constexpr knob_value sleep_soon = 1;

}  // namespace

std::optional<knob_value> wait_policy::judge(state& of, double time_s, double share, bool sleeps, knob_value own) const {
  if (of.calm_s == 0) of.calm_s = m_options.calm_s;
  const bool was_bad = of.was_bad;
  of.was_bad = share >= m_options.bad_share;
  if (!sleeps) {
    if (!of.was_bad || !was_bad) return std::nullopt;
    if (of.back_at_s >= 0 && time_s - of.back_at_s < m_options.soon_s)
      of.calm_s = std::min(2 * of.calm_s, m_options.most_calm_s);
    of.calm_since_s = -1;
    return sleep_soon;
  }
  if (share > m_options.calm_share) {
    of.calm_since_s = -1;
    return std::nullopt;
  }
  if (of.calm_since_s < 0) of.calm_since_s = time_s;
  if (time_s - of.calm_since_s < of.calm_s) return std::nullopt;
  of.back_at_s = time_s;
  return own;
}

void wait_policy::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) m_states.erase(each);
  if (now.is_last) return;
  for (const subject_view& each : now.subjects) {
    const auto place = each.info.place_of(knobs::block_time);
    if (!place || each.is_others) continue;
    const knob& its = each.info.knobs[*place];
    if (its.initial <= sleep_soon || !its.values.contains(sleep_soon)) continue;
    const figure* const share = find_figure(each.figures, figures::run_delay_share);
    const figure* const window = find_figure(each.figures, figures::windows);
    if (share == nullptr || window == nullptr) continue;
    state& of = m_states[each.info.id];
    if (of.window == window->value) continue;
    of.window = window->value;
    const bool sleeps = each.in_force[*place] == sleep_soon;
    const std::optional<knob_value> to = judge(of, now.time_s, share->value, sleeps, its.initial);
    if (!to) continue;
    proposal made;
    made.subject = each.info.id;
    made.what = outcome::set;
    made.changes = {{*place, *to}};
    made.reason = sleeps ? "its threads have had their CPUs for long" : "who spins takes CPUs that others want";
    made.evidence = {*share};
    out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer
