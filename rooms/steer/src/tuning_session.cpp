#include "tuning_session.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "trimtab/base/hash.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::steer {

namespace reasons = observe::words::decision_reason;

namespace {

bool same(std::span<const knob_value> one, const std::vector<knob_value>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

std::vector<knob_value> own_values(const subject_info& of) {
  std::vector<knob_value> found(of.knobs.size());
  std::transform(of.knobs.begin(), of.knobs.end(), found.begin(), [](const knob& each) { return each.initial; });
  return found;
}

// Where no diagnosis can say what to try, as of knobs that a program declares.
search_kind search_for(const subject_info& of, search_kind chosen) {
  const bool is_undiagnosed = std::any_of(of.knobs.begin(), of.knobs.end(), [](const knob& each) {
    return std::any_of(each.remedies.begin(), each.remedies.end(),
                       [](const remedy& one) { return one.cause == causes::undiagnosed; });
  });
  return chosen == search_kind::diagnosed && is_undiagnosed ? search_kind::hill_climbing : chosen;
}

// Of the incumbent, after which its level is that of what is in force, and not of what was before.
constexpr std::uint32_t level_measurements = 9;

}  // namespace

tuning_session::tuning_session(const subject_info& of, const tuner_options& options)
    : m_options(options),
      m_kind(search_for(of, options.kind)),
      m_random(options.seed ^ base::mix(of.id)),
      m_recheck_s(options.recheck_s),
      m_drift_after_s(options.drift_after_s),
      m_retry_s(options.retry_s) {
  for (const knob& each : of.knobs) {
    m_settle = std::max(m_settle, each.settle);
    m_change_s += each.change_cost_s;
  }
}

void tuning_session::take_in(const subject_view& it, const view& now) {
  // A trial may have been undone by the engine before this, and still have been measured.
  const bool was_tried = m_is_proposed && it.last_trial != m_trial_before;
  if (!m_is_in_force && (was_tried || same(it.in_force, m_wanted))) {
    m_is_in_force = true;
    m_leg_under = was_tried ? it.last_trial : it.since;
  }
  m_is_proposed = false;
  // A rule has set others, or what was kept is new: it has a level of its own.
  if (!same(it.accepted, m_accepted)) {
    m_accepted.assign(it.accepted.begin(), it.accepted.end());
    m_incumbent.forget();
    m_measured = 0;
  }
  for (const measurement& each : it.measured) {
    m_seconds += each.seconds;
    m_last_measured_s = now.time_s;
    if (each.under == it.since && same(it.in_force, m_accepted)) {
      m_incumbent.add(each.value);
      m_incumbent.took(each.seconds);
      m_measured += 1;
    }
    if (!m_is_in_force || each.under != m_leg_under || is_leg_over()) continue;
    if (m_to_skip > 0)
      m_to_skip -= 1;
    else
      m_taken.push_back(each.value);
  }
  if (m_phase == phase::settled && m_settled_level == 0 && m_measured >= level_measurements)
    m_settled_level = m_incumbent.value();
}

bool tuning_session::has_drifted(const view& now) const {
  return now.time_s - m_settled_s > m_drift_after_s && m_settled_level > 0 && m_measured >= level_measurements &&
         m_incumbent.value() > 0 && std::abs(std::log(m_incumbent.value() / m_settled_level)) > m_options.drift;
}

bool tuning_session::is_leg_over() const {
  if (m_taken.size() >= m_leg_measurements) return true;
  return m_is_candidate_leg && !m_taken.empty() && m_incumbent.is_known() &&
         median_of(m_taken) > m_options.clearly_worse * m_incumbent.value();
}

// The engine ended the trial (budget): what was measured until then must do, or it is tried once more.
void tuning_session::cut_short() noexcept {
  m_is_in_force = false;
  if (m_is_candidate_leg && !m_taken.empty()) m_leg_measurements = static_cast<std::uint32_t>(m_taken.size());
}

double tuning_session::promise(const subject_view& it, const view& now) const {
  const double share = now.time_s > 0 ? m_seconds / now.time_s : 0;
  if (it.info.knobs.empty() || m_measured < m_options.baseline || share < m_options.least_share) return 0;
  if (m_incumbent.seconds() < m_options.least_changes * m_change_s) return 0;
  if (m_phase != phase::settled) return share * promise_of_search(it, now);
  const bool is_changed = m_accepted != own_values(it.info);
  if (has_drifted(now)) return is_changed || promise_of_search(it, now) > 0 ? share : 0;
  if (is_changed) return now.time_s - m_settled_s > m_recheck_s ? share : 0;
  const bool is_to_retry = m_has_found_nothing && m_kind == search_kind::diagnosed;
  return is_to_retry && now.time_s - m_settled_s > m_retry_s ? share * promise_of_search(it, now) : 0;
}

// 0: there is nothing to try.
double tuning_session::promise_of_search(const subject_view& it, const view& now) const {
  if (m_kind != search_kind::diagnosed) return 1;
  const auto findings = diagnose({it.figures.begin(), it.figures.end()}, {now.figures.begin(), now.figures.end()});
  const auto start = space_of(it.info.knobs, m_accepted).start;
  return hints_of(findings, it.info.knobs, start).empty() ? 0 : findings.front().strength;
}

std::optional<double> tuning_session::left() const noexcept {
  return m_phase == phase::exploring && !m_is_candidate_leg ? m_left : std::nullopt;
}

void tuning_session::begin(const subject_view& it, const view& now) {
  const bool is_again = m_phase == phase::settled, is_after_drift = is_again && has_drifted(now);
  const bool is_changed = m_accepted != own_values(it.info);
  m_is_rechecking = is_again && is_changed && !(is_after_drift && promise_of_search(it, now) > 0);
  if (is_again && !is_changed && !is_after_drift) m_retry_s *= 2;
  m_scale = 1;
  if (is_after_drift) m_drift_after_s *= 2;
  if (m_is_rechecking) return begin_proof(own_values(it.info));
  space over = space_of(it.info.knobs, m_accepted);
  if (m_options.same_as) over.same_as = m_options.same_as(it.info);
  m_findings = diagnose({it.figures.begin(), it.figures.end()}, {now.figures.begin(), now.figures.end()});
  search_limits within{m_options.seed ^ base::mix(it.info.id) ^ m_generation++, m_options.most_evaluations, {}};
  within.hints = hints_of(m_findings, it.info.knobs, over.start);
  const point start = over.start;
  m_disproved.clear();
  m_left.reset();
  m_search = make_search(m_kind, std::move(over), std::move(within));
  m_search->tell(start, 1);
  m_phase = phase::exploring;
  explore_on(it, now);
}

proposal tuning_session::propose(const subject_view& it, outcome what, std::string reason) const {
  proposal made;
  made.subject = it.info.id;
  made.what = what;
  made.reason = std::move(reason);
  for (const finding& each : m_findings) made.evidence.push_back(each.evidence);
  return made;
}

std::string tuning_session::why() const {
  if (m_is_rechecking) return "the program's own values once more";
  std::string text;
  for (const finding& each : m_findings) text += (text.empty() ? "" : ", ") + each.text;
  const std::string searched =
      std::string(m_search->name()) + ", " + std::to_string(m_search->evaluations()) + " evaluations";
  return text.empty() ? searched : text + " (" + searched + ")";
}

void tuning_session::go_on(const subject_view& it, const view& now, std::vector<proposal>& out) {
  if (m_is_in_force && !same(it.in_force, m_wanted)) cut_short();
  // A leg may be over with nothing measured anew: the next begins at once.
  for (int turn = 0; turn < 4 && is_under_way() && is_leg_over(); ++turn) {
    if (m_phase == phase::keeping) break;
    next_leg(it, now);
  }
  if (!is_under_way()) {
    if (!same(it.in_force, m_accepted)) out.push_back(propose(it, outcome::undone, reasons::no_better));
    return;
  }
  if (same(it.in_force, m_wanted)) {
    if (m_phase != phase::keeping) return;
    proposal kept = propose(it, outcome::kept, why());
    kept.gain = m_trial.gain();
    out.push_back(std::move(kept));
    m_scale *= 1 - m_trial.gain().gain;
    m_left = m_seconds / now.time_s * m_scale;
    if (m_search) {
      m_phase = phase::exploring;
      begin_leg(m_candidate, m_options.per_reference);
    } else {
      settle(now);
    }
    return;
  }
  if (same(it.accepted, m_wanted)) {
    out.push_back(propose(it, outcome::undone, m_phase == phase::proving ? reasons::incumbents_turn : reasons::measured));
    return;
  }
  m_is_proposed = true;
  m_trial_before = it.last_trial;
  out.push_back(propose(it, outcome::trial, why()));
  for (std::uint32_t i = 0; i < m_wanted.size(); ++i) out.back().changes.push_back({i, m_wanted[i]});
}

void tuning_session::begin_leg(values wanted, std::uint32_t measurements) {
  m_wanted = std::move(wanted);
  m_leg_measurements = measurements;
  m_to_skip = m_settle;
  m_is_in_force = m_is_proposed = false;
  m_taken.clear();
}

void tuning_session::interrupt(const subject_view& it, std::vector<proposal>& out) {
  m_phase = phase::watching;
  m_measured = 0;
  if (!same(it.in_force, m_accepted)) out.push_back(propose(it, outcome::undone, reasons::not_measured));
}

void tuning_session::settle(const view& now) {
  m_phase = phase::settled;
  m_settled_s = now.time_s;
  m_settled_level = 0;  // taken when it is known
  m_recheck_s *= m_is_rechecking ? 2 : 1;
  m_has_found_nothing = m_search != nullptr && !m_left;
  m_search.reset();
}

}  // namespace trimtab::steer
