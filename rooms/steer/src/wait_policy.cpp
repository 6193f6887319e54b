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

proposal proposal_of(outcome what, std::string reason) {
  proposal made;
  made.what = what;
  made.reason = std::move(reason);
  return made;
}

}  // namespace

void wait_policy::pause(state& of, double time_s) const {
  of.is_on_trial = false;
  of.bad = 0;
  of.pause_s = std::clamp(2 * of.pause_s, m_options.pause_s, m_options.most_pause_s);
  of.paused_until_s = time_s + of.pause_s;
}

std::optional<proposal> wait_policy::try_it(state& of, const window& now) const {
  of.bad = now.share >= m_options.bad_share ? of.bad + 1 : 0;
  of.waited_long = now.wait_s >= m_options.long_wait_s ? of.waited_long + 1 : 0;
  const bool is_bad = of.bad >= m_options.bad_windows && of.waited_long >= m_options.long_windows;
  if (!is_bad || now.time_s < of.paused_until_s) return std::nullopt;
  of.trial.clear();
  return proposal_of(outcome::trial, printed("they wait %.1f ms each time, while others want the CPUs", now.wait_s * 1e3));
}

std::optional<proposal> wait_policy::end_trial(state& of, double time_s) const {
  if (of.trial.size() < m_options.windows) return std::nullopt;
  const double ratio = median_of(of.trial) / median_of(of.before);
  const std::string found = printed("regions take %.0f %% of the time so", ratio * 100);
  if (ratio > m_options.faster) {
    pause(of, time_s);
    return proposal_of(outcome::undone, found);
  }
  if (of.back_at_s >= 0 && time_s - of.back_at_s < m_options.soon_s)
    of.calm_s = std::min(2 * of.calm_s, m_options.most_calm_s);
  of.is_on_trial = false;
  of.waited_shortly = 0;
  of.calm_since_s = -1;
  return proposal_of(outcome::kept, found);
}

std::optional<proposal> wait_policy::go_back(state& of, const window& now) const {
  of.waited_shortly = now.wait_s < m_options.long_wait_s / 2 ? of.waited_shortly + 1 : 0;
  if (now.share > m_options.calm_share)
    of.calm_since_s = -1;
  else if (of.calm_since_s < 0)
    of.calm_since_s = now.time_s;
  const bool is_calm = of.calm_since_s >= 0 && now.time_s - of.calm_since_s >= of.calm_s;
  if (!is_calm && of.waited_shortly < m_options.short_windows) return std::nullopt;
  if (is_calm)
    of.back_at_s = now.time_s;
  else
    pause(of, now.time_s);
  of.bad = of.waited_long = 0;
  of.before.clear();
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
  state& of = m_states[subject.info.id];
  const bool is_on_trial = subject.in_force[*place] != subject.accepted[*place];
  const bool sleeps = subject.accepted[*place] == sleep_soon;
  const bool has_begun = std::exchange(of.latest_trial, subject.last_trial) != subject.last_trial;
  // The engine has ended the trial: it cost more than the budget has.
  if ((std::exchange(of.is_on_trial, is_on_trial) || has_begun) && !is_on_trial) pause(of, time_s);
  if (std::exchange(of.window, count->value) == count->value) return std::nullopt;
  if (of.calm_s == 0) of.calm_s = m_options.calm_s;
  collect(of, subject);
  const window ended{time_s, share->value, wait->value};
  std::optional<proposal> proposed = is_on_trial ? end_trial(of, time_s) : sleeps ? go_back(of, ended) : try_it(of, ended);
  if (!proposed) return std::nullopt;
  proposed->subject = subject.info.id;
  if (proposed->what == outcome::trial || proposed->what == outcome::set)
    proposed->changes = {{*place, sleeps ? block_time.initial : sleep_soon}};
  proposed->evidence = {*share, *wait};
  return proposed;
}

// The latest measurements, of the trial or from before it.
void wait_policy::collect(state& of, const subject_view& subject) const {
  std::vector<double>& values = of.is_on_trial ? of.trial : of.before;
  for (const measurement& taken : subject.measured) {
    if (taken.under == subject.since) values.push_back(taken.value);
    if (values.size() > m_options.windows) values.erase(values.begin());
  }
}

}  // namespace trimtab::steer
