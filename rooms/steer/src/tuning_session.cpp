#include "tuning_session.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "trimtab/base/hash.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::steer {

namespace reasons = observe::words::decision_reason;

namespace {

bool same(std::span<const knob_value> values, const std::vector<knob_value>& other) {
  return std::equal(values.begin(), values.end(), other.begin(), other.end());
}

std::vector<knob_value> own_values(const subject_info& subject) {
  std::vector<knob_value> values(subject.knobs.size());
  std::transform(subject.knobs.begin(), subject.knobs.end(), values.begin(), [](const knob& knob) { return knob.initial; });
  return values;
}

// Where no diagnosis can say what to try, as of knobs that a program declares.
search_kind search_for(const subject_info& subject, search_kind chosen) {
  const bool is_undiagnosed = std::any_of(subject.knobs.begin(), subject.knobs.end(), [](const knob& knob) {
    return std::any_of(knob.remedies.begin(), knob.remedies.end(),
                       [](const remedy& remedy) { return remedy.cause == causes::undiagnosed; });
  });
  return chosen == search_kind::diagnosed && is_undiagnosed ? search_kind::hill_climbing : chosen;
}

// Of the incumbent, after which its level is that of what is in force, and not of what was before.
constexpr std::uint32_t level_measurements = 9;

}  // namespace

tuning_session::tuning_session(const subject_info& subject, const tuner_options& options)
    : m_options(options),
      m_kind(search_for(subject, options.kind)),
      m_random(options.seed ^ base::mix(subject.id)),
      m_recheck_s(options.recheck_s),
      m_drift_after_s(options.drift_after_s),
      m_retry_s(options.retry_s) {
  for (const knob& knob : subject.knobs) {
    m_settle = std::max(m_settle, knob.settle);
    m_change_s += knob.change_cost_s;
  }
}

void tuning_session::take_in(const subject_view& subject, const view& now) {
  // A trial may have been undone by the engine before this, and still have been measured.
  const bool was_tried = m_is_proposed && subject.last_trial != m_trial_before;
  if (!m_is_in_force && (was_tried || same(subject.in_force, m_wanted))) {
    m_is_in_force = true;
    m_leg_under = was_tried ? subject.last_trial : subject.since;
  }
  m_is_proposed = false;
  // A rule has set others, or what was kept is new: it has a level of its own.
  if (!same(subject.accepted, m_accepted)) {
    m_accepted.assign(subject.accepted.begin(), subject.accepted.end());
    m_incumbent.forget();
    m_measured = 0;
  }
  for (const measurement& measurement : subject.measured) {
    m_seconds += measurement.seconds;
    m_last_measured_s = now.time_s;
    if (measurement.under == subject.since && same(subject.in_force, m_accepted)) {
      m_incumbent.add(measurement.value);
      m_incumbent.took(measurement.seconds);
      m_measured += 1;
    }
    if (!m_is_in_force || measurement.under != m_leg_under || is_leg_over()) continue;
    if (m_to_skip > 0)
      m_to_skip -= 1;
    else
      m_taken.push_back(measurement.value);
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

double tuning_session::promise(const subject_view& subject, const view& now) const {
  const double share = now.time_s > 0 ? m_seconds / now.time_s : 0;
  if (subject.info.knobs.empty() || m_measured < m_options.baseline || share < m_options.least_share) return 0;
  if (m_incumbent.seconds() < m_options.least_changes * m_change_s) return 0;
  if (m_phase != phase::settled) return share * promise_of_search(subject, now);
  const bool is_changed = m_accepted != own_values(subject.info);
  if (has_drifted(now)) return is_changed || promise_of_search(subject, now) > 0 ? share : 0;
  if (is_changed) return now.time_s - m_settled_s > m_recheck_s ? share : 0;
  const bool is_to_retry = m_has_found_nothing && m_kind == search_kind::diagnosed;
  return is_to_retry && now.time_s - m_settled_s > m_retry_s ? share * promise_of_search(subject, now) : 0;
}

// 0: there is nothing to try.
double tuning_session::promise_of_search(const subject_view& subject, const view& now) const {
  if (m_kind != search_kind::diagnosed) return 1;
  const auto findings = diagnose({subject.figures.begin(), subject.figures.end()}, {now.figures.begin(), now.figures.end()});
  const auto start = space_of(subject.info.knobs, m_accepted).start;
  return hints_of(findings, subject.info.knobs, start).empty() ? 0 : findings.front().strength;
}

std::optional<double> tuning_session::left() const noexcept {
  return m_phase == phase::exploring && !m_is_candidate_leg ? m_left : std::nullopt;
}

void tuning_session::begin(const subject_view& subject, const view& now) {
  const bool was_settled = m_phase == phase::settled, is_after_drift = was_settled && has_drifted(now);
  const bool is_changed = m_accepted != own_values(subject.info);
  m_is_rechecking = was_settled && is_changed && !(is_after_drift && promise_of_search(subject, now) > 0);
  if (was_settled && !is_changed && !is_after_drift) m_retry_s *= 2;
  m_scale = 1;
  if (is_after_drift) m_drift_after_s *= 2;
  if (m_is_rechecking) return begin_proof(own_values(subject.info));
  space dimensions = space_of(subject.info.knobs, m_accepted);
  if (m_options.same_as) dimensions.same_as = m_options.same_as(subject.info);
  m_findings = diagnose({subject.figures.begin(), subject.figures.end()}, {now.figures.begin(), now.figures.end()});
  search_limits limits{m_options.seed ^ base::mix(subject.info.id) ^ m_generation++, m_options.most_evaluations, {}};
  limits.hints = hints_of(m_findings, subject.info.knobs, dimensions.start);
  const point start = dimensions.start;
  m_disproved.clear();
  m_left.reset();
  m_search = make_search(m_kind, std::move(dimensions), std::move(limits));
  m_search->tell(start, 1);
  m_phase = phase::exploring;
  explore_on(subject, now);
}

proposal tuning_session::propose(const subject_view& subject, outcome result_kind, std::string reason) const {
  proposal proposed;
  proposed.subject = subject.info.id;
  proposed.what = result_kind;
  proposed.reason = std::move(reason);
  for (const finding& finding : m_findings) proposed.evidence.push_back(finding.evidence);
  return proposed;
}

std::string tuning_session::why() const {
  if (m_is_rechecking) return "the program's own values once more";
  std::string text;
  for (const finding& finding : m_findings) text += (text.empty() ? "" : ", ") + finding.text;
  const std::string searched =
      std::string(m_search->name()) + ", " + std::to_string(m_search->evaluations()) + " evaluations";
  return text.empty() ? searched : text + " (" + searched + ")";
}

void tuning_session::go_on(const subject_view& subject, const view& now, std::vector<proposal>& out) {
  if (m_is_in_force && !same(subject.in_force, m_wanted)) cut_short();
  // A leg may be over with nothing measured anew: the next begins at once.
  for (int turn = 0; turn < 4 && is_under_way() && is_leg_over(); ++turn) {
    if (m_phase == phase::keeping) break;
    next_leg(subject, now);
  }
  if (!is_under_way()) {
    if (!same(subject.in_force, m_accepted)) out.push_back(propose(subject, outcome::undone, reasons::no_better));
    return;
  }
  if (same(subject.in_force, m_wanted)) {
    if (m_phase != phase::keeping) return;
    proposal kept = propose(subject, outcome::kept, why());
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
  if (same(subject.accepted, m_wanted)) {
    out.push_back(
        propose(subject, outcome::undone, m_phase == phase::proving ? reasons::incumbents_turn : reasons::measured));
    return;
  }
  m_is_proposed = true;
  m_trial_before = subject.last_trial;
  out.push_back(propose(subject, outcome::trial, why()));
  for (std::uint32_t i = 0; i < m_wanted.size(); ++i) out.back().changes.push_back({i, m_wanted[i]});
}

void tuning_session::begin_leg(values wanted, std::uint32_t measurements) {
  m_wanted = std::move(wanted);
  m_leg_measurements = measurements;
  m_to_skip = m_settle;
  m_is_in_force = m_is_proposed = false;
  m_taken.clear();
}

void tuning_session::interrupt(const subject_view& subject, std::vector<proposal>& out) {
  m_phase = phase::watching;
  m_measured = 0;
  if (!same(subject.in_force, m_accepted)) out.push_back(propose(subject, outcome::undone, reasons::not_measured));
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
