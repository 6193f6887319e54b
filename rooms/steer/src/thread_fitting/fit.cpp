#include "trimtab/steer/thread_fitting/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "printed.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

namespace {

// Figures may be nonsense; a count of CPUs that is none is no limit.
knob_value whole_cpus(double cpus) {
  return cpus < 1e6 ? std::max<knob_value>(1, static_cast<knob_value>(cpus + 1e-9)) : 1'000'000;
}

}  // namespace

// A quota is rounded down: a part of a CPU would stop one member while the others wait for it.
fit::ceiling fit::least_of(const situation& now, std::initializer_list<ceiling> limits) {
  ceiling tightest{"", "", std::numeric_limits<knob_value>::max()};
  for (const ceiling& limit : limits) {
    const auto value = now.figure_of(limit.figure);
    if (value && *value > 0 && whole_cpus(*value) < tightest.threads)
      tightest = {limit.figure, limit.reason, whole_cpus(*value)};
  }
  return tightest;
}

// After a change: what is measured from here on begins anew.
void fit::rest(double now_s) {
  m_changed_s = now_s;
  m_calm_since_s = -1;
  m_was_suspicious = m_was_above_share = false;
}

void fit::begin_anew(double now_s) {
  rest(now_s);
  m_is_new = true;
  m_grain = grain_limit(m_options.grain);
}

bool fit::is_skewed(const situation& now) {
  const auto skew = now.figure_of(figures::skew_seconds);
  if (!skew || !(*skew >= 0)) return false;
  // The least is what the program has by itself; under load from the beginning, until the load goes.
  if (m_usual_skew_s < 0 || *skew < m_usual_skew_s) m_usual_skew_s = *skew;
  const bool is_bad = *skew > std::max(m_options.bad_skew_s, m_options.skew_ratio * m_usual_skew_s);
  if (!is_bad) m_usual_skew_s += (*skew - m_usual_skew_s) / 8;
  return is_bad;
}

std::optional<thread_fitting::verdict> fit::drop(const situation& now) {
  const auto delay = now.figure_of(figures::run_delay_share), throttled = now.figure_of(figures::throttled_share);
  // Time stopped by the quota may or may not be among the run delay.
  const double share = std::clamp(std::max(delay.value_or(0), throttled.value_or(0)), 0.0, 1.0);
  const double lost = share * static_cast<double>(now.threads);
  const bool is_skewed_now = is_skewed(now);
  const bool is_limited = delay || throttled;
  const bool is_suspicious = is_limited ? lost >= m_options.lost_in_a_row : is_skewed_now;
  if (is_suspicious || lost > 1 - m_options.least_idle) m_calm_since_s = -1;
  const bool is_certain = lost >= m_options.lost_at_once || (is_suspicious && m_was_suspicious);
  m_was_suspicious = is_suspicious;
  if (!is_certain || !now.fewer) return std::nullopt;
  const knob_value target = std::min(*now.fewer, now.threads - static_cast<knob_value>(std::lround(lost)));
  // An add that did not stand was a mistake: the load comes and goes.
  const bool was_mistake = now.time_s - m_added_s < m_options.soon_s;
  m_calm_s = was_mistake ? std::min(m_calm_s * 2, m_options.most_calm_s) : std::max(m_calm_s / 2, m_options.calm_s);
  rest(now.time_s);
  if (!is_limited) return verdict{target, "members of regions end far apart", now.evidence({figures::skew_seconds})};
  const bool is_quota = throttled.value_or(0) > delay.value_or(0);
  return verdict{
      std::max(target, now.fewest),
      printed(is_quota ? "its cgroup is stopped %.0f %% of the time" : "members wait for a CPU %.0f %% of the time",
              share * 100),
      now.evidence({is_quota ? figures::throttled_share : figures::run_delay_share, figures::idle_cpus})};
}

std::optional<thread_fitting::verdict> fit::add(const situation& now, knob_value limit) {
  const auto idle = now.figure_of(figures::idle_cpus);
  if (!idle || !(*idle >= m_options.least_idle) || m_was_suspicious) {
    m_calm_since_s = -1;
    return std::nullopt;
  }
  if (m_calm_since_s < 0) m_calm_since_s = now.time_s;
  // A step of more than one thread needs so many idle CPUs.
  const bool has_room =
      now.more && *now.more <= limit && *idle >= static_cast<double>(*now.more - now.threads) - (1 - m_options.least_idle);
  if (!has_room || now.time_s - m_calm_since_s < m_calm_s - 1e-9) return std::nullopt;
  const double calm_s = now.time_s - m_calm_since_s;
  rest(now.time_s);
  m_added_s = now.time_s;
  return verdict{*now.more, printed("CPUs were idle for %.1f s", calm_s), now.evidence({figures::idle_cpus})};
}

fit::verdict fit::bring_to(const situation& now, const ceiling& tightest) {
  rest(now.time_s);
  return {tightest.threads, printed(tightest.reason, now.figure_of(tightest.figure).value_or(0)),
          now.evidence({tightest.figure})};
}

std::optional<thread_fitting::verdict> fit::end_trial(const situation& now) {
  const knob_value tried = m_grain.on_trial();
  const double ratio = now.figure_of(figures::trial_ratio).value_or(1);
  const auto trial_ended = m_grain.end(now.time_s, now.figure_of(figures::team_trials).value_or(0), ratio, now.threads);
  if (trial_ended == grain_limit::result::open) return std::nullopt;
  const std::vector<figure> evidence = now.evidence({figures::trial_ratio, figures::region_seconds});
  rest(now.time_s);
  if (trial_ended == grain_limit::result::no_gain) return verdict{now.threads, "regions take no less time so", evidence};
  return verdict{tried, printed("regions take %.0f %% of the time so", ratio * 100), evidence};
}

std::optional<thread_fitting::verdict> fit::try_others(const situation& now, knob_value limit) {
  const double region_s = now.figure_of(figures::region_seconds).value_or(0);
  if (m_grain.is_outgrown(now.time_s, region_s)) {
    // As far as CPUs are idle; the rest comes as usual.
    const double idle = now.figure_of(figures::idle_cpus).value_or(0) + (1 - m_options.least_idle);
    const knob_value to = std::min(limit, now.threads + whole_cpus(idle + 1) - 1);
    const std::vector<figure> evidence = now.evidence({figures::region_seconds, figures::idle_cpus});
    rest(now.time_s);
    return verdict{std::max(now.threads, to), "regions take longer than those that fewer threads were for", evidence};
  }
  const knob_value doubled = now.more ? std::min(limit, 2 * now.threads) : 0;
  const bool has_room = now.figure_of(figures::idle_cpus).value_or(0) >=
                        static_cast<double>(doubled - now.threads) - (1 - m_options.least_idle);
  if (m_was_suspicious) return std::nullopt;
  const knob_value to = m_grain.next_trial(now.time_s, region_s, now.threads, now.fewest, has_room ? doubled : 0);
  if (to == 0) return std::nullopt;
  m_grain.begin(now.time_s, to, now.figure_of(figures::team_trials).value_or(0));
  return verdict{now.threads, printed("regions of %.0f us: some are tried so", region_s * 1e6),
                 now.evidence({figures::region_seconds}), 0, to};
}

std::optional<thread_fitting::verdict> fit::judge(const situation& now) {
  const ceiling machine = least_of(now, {{figures::allowed_cpus, "the process may run on %.0f CPUs", 0},
                                         {figures::quota_cpus, "its cgroup pays for %.2f CPUs", 0}});
  if (now.fewer && now.threads > machine.threads) return bring_to(now, machine);
  if (m_grain.on_trial() != 0) return end_trial(now);
  if (const auto window = now.figure_of(figures::windows)) {
    if (*window == m_window) return std::nullopt;
    m_window = *window;
  }
  ceiling share{"", "", machine.threads};
  if (now.figure_of(figures::others).value_or(0) > 0)
    share = least_of(now, {{figures::registry_share, "its share among programs that fit their threads is %.0f CPUs", 0}});
  // An estimate, of windows that others began at other times: it has to hold for two. Who joins others does not wait.
  const bool was_beyond = std::exchange(m_was_above_share, now.fewer && now.threads > share.threads);
  const bool joins = std::exchange(m_is_new, false);
  if (m_was_above_share && (was_beyond || joins)) return bring_to(now, share);
  if (now.time_s - m_changed_s < m_options.settle_s) return std::nullopt;
  if (auto verdict_now = drop(now)) return verdict_now;
  const knob_value limit = std::min(machine.threads, share.threads);
  if (auto verdict_now = try_others(now, limit)) return verdict_now;
  return add(now, std::min(limit, m_grain.threads()));
}

}  // namespace trimtab::steer
