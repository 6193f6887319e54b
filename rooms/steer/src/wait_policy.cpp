#include "trimtab/steer/wait_policy.hpp"

#include <algorithm>
#include <utility>

#include "printed.hpp"
#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

namespace {

// Not at once (0): where waits are short, every barrier would have to wake its threads, and they to wait for a CPU.
constexpr knob_value sleep_soon = 1;

proposal proposal_of(outcome result_kind, std::string reason) {
  proposal proposed;
  proposed.what = result_kind;
  proposed.reason = std::move(reason);
  return proposed;
}

}  // namespace

void wait_policy::pause(state& state_of_subject, double time_s) const {
  state_of_subject.is_on_trial = false;
  state_of_subject.bad = 0;
  state_of_subject.pause_s = std::clamp(2 * state_of_subject.pause_s, m_options.pause_s, m_options.most_pause_s);
  state_of_subject.paused_until_s = time_s + state_of_subject.pause_s;
}

std::optional<proposal> wait_policy::try_it(state& state_of_subject, const window& now) const {
  state_of_subject.bad = now.share >= m_options.bad_share ? state_of_subject.bad + 1 : 0;
  state_of_subject.waited_long = now.wait_s >= m_options.long_wait_s ? state_of_subject.waited_long + 1 : 0;
  const bool is_bad =
      state_of_subject.bad >= m_options.bad_windows && state_of_subject.waited_long >= m_options.long_windows;
  if (!is_bad || now.time_s < state_of_subject.paused_until_s) return std::nullopt;
  state_of_subject.trial.clear();
  return proposal_of(outcome::trial, printed("they wait %.1f ms each time, while others want the CPUs", now.wait_s * 1e3));
}

std::optional<proposal> wait_policy::end_trial(state& state_of_subject, double time_s) const {
  if (state_of_subject.trial.size() < m_options.windows) return std::nullopt;
  const double ratio = median_of(state_of_subject.trial) / median_of(state_of_subject.before);
  const std::string evidence_text = printed("regions take %.0f %% of the time so", ratio * 100);
  if (ratio > m_options.faster) {
    pause(state_of_subject, time_s);
    return proposal_of(outcome::undone, evidence_text);
  }
  if (state_of_subject.back_at_s >= 0 && time_s - state_of_subject.back_at_s < m_options.soon_s)
    state_of_subject.calm_s = std::min(2 * state_of_subject.calm_s, m_options.most_calm_s);
  state_of_subject.is_on_trial = false;
  state_of_subject.waited_shortly = 0;
  state_of_subject.calm_since_s = -1;
  return proposal_of(outcome::kept, evidence_text);
}

std::optional<proposal> wait_policy::go_back(state& state_of_subject, const window& now) const {
  state_of_subject.waited_shortly = now.wait_s < m_options.long_wait_s / 2 ? state_of_subject.waited_shortly + 1 : 0;
  if (now.share > m_options.calm_share)
    state_of_subject.calm_since_s = -1;
  else if (state_of_subject.calm_since_s < 0)
    state_of_subject.calm_since_s = now.time_s;
  const bool is_calm =
      state_of_subject.calm_since_s >= 0 && now.time_s - state_of_subject.calm_since_s >= state_of_subject.calm_s;
  if (!is_calm && state_of_subject.waited_shortly < m_options.short_windows) return std::nullopt;
  if (is_calm)
    state_of_subject.back_at_s = now.time_s;
  else
    pause(state_of_subject, now.time_s);
  state_of_subject.bad = state_of_subject.waited_long = 0;
  state_of_subject.before.clear();
  return proposal_of(outcome::set, is_calm ? "its threads have had their CPUs for long" : "its waits are short");
}

void wait_policy::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_states.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects)
    if (std::optional<proposal> proposed = propose(subject, now.time_s)) out.push_back(std::move(*proposed));
}

std::optional<proposal> wait_policy::propose(const subject_view& subject, double time_s) {
  const auto place = subject.info.place_of(knobs::block_time);
  if (!place || subject.is_others) return std::nullopt;
  const knob& block_time = subject.info.knobs[*place];
  if (block_time.initial <= sleep_soon || !block_time.values.contains(sleep_soon)) return std::nullopt;
  const figure* const share = find_figure(subject.figures, figures::run_delay_share);
  const figure* const wait = find_figure(subject.figures, figures::wait_seconds);
  const figure* const count = find_figure(subject.figures, figures::windows);
  if (share == nullptr || wait == nullptr || count == nullptr) return std::nullopt;
  state& state_of_subject = m_states[subject.info.id];
  const bool is_on_trial = subject.in_force[*place] != subject.accepted[*place];
  const bool sleeps = subject.accepted[*place] == sleep_soon;
  const bool has_begun = std::exchange(state_of_subject.latest_trial, subject.last_trial) != subject.last_trial;
  // The engine has ended the trial: it cost more than the budget has.
  if ((std::exchange(state_of_subject.is_on_trial, is_on_trial) || has_begun) && !is_on_trial)
    pause(state_of_subject, time_s);
  if (std::exchange(state_of_subject.window, count->value) == count->value) return std::nullopt;
  if (state_of_subject.calm_s == 0) state_of_subject.calm_s = m_options.calm_s;
  collect(state_of_subject, subject);
  const window ended{time_s, share->value, wait->value};
  std::optional<proposal> proposed = is_on_trial ? end_trial(state_of_subject, time_s)
                                     : sleeps    ? go_back(state_of_subject, ended)
                                                 : try_it(state_of_subject, ended);
  if (!proposed) return std::nullopt;
  proposed->subject = subject.info.id;
  if (proposed->what == outcome::trial || proposed->what == outcome::set)
    proposed->changes = {{*place, sleeps ? block_time.initial : sleep_soon}};
  proposed->evidence = {*share, *wait};
  return proposed;
}

// The latest measurements, of the trial or from before it.
void wait_policy::collect(state& state_of_subject, const subject_view& subject) const {
  std::vector<double>& values = state_of_subject.is_on_trial ? state_of_subject.trial : state_of_subject.before;
  for (const measurement& measurement : subject.measured) {
    if (measurement.under == subject.since) values.push_back(measurement.value);
    if (values.size() > m_options.windows) values.erase(values.begin());
  }
}

}  // namespace trimtab::steer
