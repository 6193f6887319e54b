#include "trimtab/steer/memory_policy.hpp"

#include <algorithm>
#include <utility>

#include "printed.hpp"
#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

namespace {

constexpr std::string_view knob_names[] = {knobs::keep_memory, knobs::huge_pages};
constexpr std::size_t keep = 0, huge = 1;
constexpr knob_value turned_on = 1;

proposal proposal_of(outcome result_kind, std::string reason) {
  proposal proposed;
  proposed.what = result_kind;
  proposed.reason = std::move(reason);
  return proposed;
}

void keep_latest(std::vector<double>& values, double value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.erase(values.begin());
}

}  // namespace

void memory_policy::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_states.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects)
    if (std::optional<proposal> proposed = propose(subject, now.time_s)) out.push_back(std::move(*proposed));
}

void memory_policy::pause(state& state_of_subject, double time_s) const {
  knob_state& knob = state_of_subject.knobs[state_of_subject.tried];
  knob.is_concluded = true;
  knob.pause_s = std::clamp(2 * knob.pause_s, m_options.pause_s, m_options.most_pause_s);
  knob.paused_until_s = time_s + knob.pause_s;
  state_of_subject.is_on_trial = false;
  state_of_subject.bad = 0;
}

// The latest measurements, of the trial or from before it.
void memory_policy::collect(state& state_of_subject, const subject_view& subject) const {
  level& latest = state_of_subject.is_on_trial ? state_of_subject.trial : state_of_subject.before;
  const std::size_t most = state_of_subject.is_on_trial ? m_options.most_windows : m_options.windows;
  for (const measurement& measurement : subject.measured) {
    if (measurement.under != subject.since) continue;
    keep_latest(latest.times, measurement.value, most);
    keep_latest(latest.kernel_shares, figure_or(subject.figures, figures::kernel_share, 0), most);
  }
}

std::optional<proposal> memory_policy::try_next(state& state_of_subject, const subject_view& subject,
                                                const window& now) const {
  state_of_subject.bad = now.refault_share >= m_options.refault_share ? state_of_subject.bad + 1 : 0;
  const bool is_bad = state_of_subject.bad >= m_options.bad_windows;
  if (state_of_subject.before.times.size() < m_options.windows) return std::nullopt;
  const auto place_of_huge = state_of_subject.place_of_huge;
  const bool is_kept = subject.accepted[state_of_subject.place_of_keep] == turned_on;
  std::optional<std::size_t> next;
  if (!is_kept && is_bad && now.time_s >= state_of_subject.knobs[keep].paused_until_s)
    next = keep;
  else if (place_of_huge && subject.accepted[*place_of_huge] != turned_on && state_of_subject.knobs[keep].is_concluded &&
           (is_bad || is_kept) && now.time_s >= state_of_subject.knobs[huge].paused_until_s)
    next = huge;
  if (!next) return std::nullopt;
  state_of_subject.tried = *next;
  state_of_subject.tried_since_s = now.time_s;
  state_of_subject.trial = {};
  proposal proposed =
      proposal_of(outcome::trial, *next == keep || !is_kept ? printed("%.0f %% of its CPU time is spent on faults on memory "
                                                                      "that it gave back before",
                                                                      now.refault_share * 100)
                                                            : "it keeps its memory now, which may as well be in huge pages");
  proposed.changes = {{place_of_huge && *next == huge ? *place_of_huge : state_of_subject.place_of_keep, turned_on}};
  return proposed;
}

std::optional<proposal> memory_policy::end_trial(state& state_of_subject, const window& now) const {
  const level &trial = state_of_subject.trial, &before = state_of_subject.before;
  if (trial.times.size() < m_options.windows) {
    if (now.time_s - state_of_subject.tried_since_s < m_options.patience_s) return std::nullopt;
    pause(state_of_subject, now.time_s);
    return proposal_of(outcome::undone, "too little was measured");
  }
  const double ratio = median_of(trial.times) / median_of(before.times);
  // Huge pages may also save time that is not the kernel's; memory that is kept saves nothing but that.
  const bool saves_kernel_time =
      state_of_subject.tried == huge || median_of(trial.kernel_shares) < median_of(before.kernel_shares);
  const bool is_over = trial.times.size() >= m_options.most_windows;
  const std::string evidence_text =
      printed("the same work takes %.0f %% of the time; peak memory %.0f %% higher", ratio * 100, now.rise * 100);
  if (saves_kernel_time && ratio <= (is_over ? m_options.barely_faster : m_options.faster)) {
    state_of_subject.knobs[state_of_subject.tried].is_concluded = true;
    state_of_subject.is_on_trial = false;
    state_of_subject.bad = 0;
    state_of_subject.before = {};
    return proposal_of(outcome::kept, evidence_text);
  }
  if (!is_over && ratio <= m_options.slower) return std::nullopt;
  pause(state_of_subject, now.time_s);
  return proposal_of(outcome::undone, evidence_text);
}

// What takes too much memory. What is on trial is undone first, what is accepted is turned back in the next call.
std::optional<proposal> memory_policy::turn_back(state& state_of_subject, const subject_view& subject, double rise) {
  const std::string reason = printed("peak memory %.0f %% higher, which is more than allowed", rise * 100);
  state_of_subject.is_given_up = subject.accepted[state_of_subject.place_of_keep] != turned_on;
  if (state_of_subject.is_on_trial) return proposal_of(outcome::undone, reason);
  proposal proposed = proposal_of(outcome::set, reason);
  for (std::uint32_t place = 0; place < subject.info.knobs.size(); ++place)
    if (subject.in_force[place] != subject.info.knobs[place].initial)
      proposed.changes.push_back({place, subject.info.knobs[place].initial});
  state_of_subject.is_given_up = true;
  return proposed.changes.empty() ? std::nullopt : std::optional(std::move(proposed));
}

std::optional<proposal> memory_policy::propose(const subject_view& subject, double time_s) {
  const auto place_of_keep = subject.info.place_of(knobs::keep_memory);
  if (!place_of_keep || subject.is_others) return std::nullopt;
  const figure* const refaults = find_figure(subject.figures, figures::refault_share);
  const figure* const count = find_figure(subject.figures, figures::windows);
  if (refaults == nullptr || count == nullptr) return std::nullopt;
  state& state_of_subject = m_states[subject.info.id];
  state_of_subject.place_of_keep = *place_of_keep;
  state_of_subject.place_of_huge = subject.info.place_of(knobs::huge_pages);
  const bool is_on_trial = !std::ranges::equal(subject.in_force, subject.accepted);
  const bool has_begun = std::exchange(state_of_subject.latest_trial, subject.last_trial) != subject.last_trial;
  // The engine has ended the trial: it cost more than the budget has.
  if ((std::exchange(state_of_subject.is_on_trial, is_on_trial) || has_begun) && !is_on_trial)
    pause(state_of_subject, time_s);
  const double rise = figure_or(subject.figures, figures::memory_rise, 0);
  std::optional<proposal> proposed;
  if (figure_or(subject.figures, figures::is_memory_over, 0) != 0) {
    if (!state_of_subject.is_given_up) proposed = turn_back(state_of_subject, subject, rise);
  } else {
    if (std::exchange(state_of_subject.window, count->value) == count->value || state_of_subject.is_given_up)
      return std::nullopt;
    collect(state_of_subject, subject);
    const window ended{time_s, refaults->value, rise};
    proposed = is_on_trial ? end_trial(state_of_subject, ended) : try_next(state_of_subject, subject, ended);
  }
  if (!proposed) return std::nullopt;
  proposed->subject = subject.info.id;
  for (const std::string_view name :
       {figures::refault_share, figures::kernel_share, figures::memory_rise, figures::is_memory_over})
    if (const figure* const known = find_figure(subject.figures, name)) proposed->evidence.push_back(*known);
  return proposed;
}

}  // namespace trimtab::steer
