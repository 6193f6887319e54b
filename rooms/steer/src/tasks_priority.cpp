#include "trimtab/steer/tasks_priority.hpp"

#include <algorithm>
#include <cmath>

#include "printed.hpp"

namespace trimtab::steer {

namespace {

bool is_priority(const steer::knob& candidate) { return candidate.name.starts_with(initiating_priority::knob); }

double share_of(const subject_view& subject, std::string_view figure, const steer::knob& kind) {
  return figure_or(subject.figures, std::string(figure) + kind.name.substr(initiating_priority::knob.size()), 0);
}

bool are_equal(const std::vector<proposed_change>& a, const std::vector<proposed_change>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const proposed_change& left, const proposed_change& right) {
    return left.knob == right.knob && left.to == right.to;
  });
}

}  // namespace

// The kinds of the chains for which workers were idle, as far as they are not raised yet.
std::vector<proposed_change> initiating_priority::wanted(const subject_view& subject, double& most_delayed) const {
  std::vector<proposed_change> changes;
  for (std::uint32_t place = 0; place < subject.info.knobs.size(); ++place) {
    const steer::knob& kind = subject.info.knobs[place];
    const std::optional<knob_value> high = is_priority(kind) ? kind.values.value_of(raised) : std::nullopt;
    if (!high) continue;
    most_delayed = std::max(most_delayed, share_of(subject, figures::delayed_share, kind));
    if (subject.accepted[place] != *high && share_of(subject, figures::chain_share, kind) >= m_options.least_share)
      changes.push_back({place, *high});
  }
  return changes;
}

void initiating_priority::begin(state_of_runtime& kinds, const subject_view& subject) {
  double most_delayed = 0;
  std::vector<proposed_change> changes = wanted(subject, most_delayed);
  if (changes.empty() || most_delayed < m_options.least_share) return;
  const auto is_same = [&](const auto& beaten) { return are_equal(beaten, changes); };
  if (std::any_of(kinds.beaten.begin(), kinds.beaten.end(), is_same)) return;
  // Each proof has half of what is left of alpha.
  trial_options test;
  test.alpha = m_options.alpha / std::exp2(++kinds.proofs);
  test.least_gain = m_options.least_gain;
  kinds.under_way.emplace(
      value_proof::plan{std::move(changes),
                        printed("workers were idle for %.0f %% of their time behind tasks that had waited for a worker",
                                100 * most_delayed),
                        {subject.figures.begin(), subject.figures.end()},
                        test},
      subject, m_random);
}

void initiating_priority::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_sessions.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    if (subject.is_others || std::none_of(subject.info.knobs.begin(), subject.info.knobs.end(), is_priority)) continue;
    state_of_runtime& kinds = m_sessions[subject.info.id];
    if (kinds.under_way) kinds.under_way->take_in(subject, m_random);
    if (!kinds.under_way && subject.has_level && !subject.measured.empty()) begin(kinds, subject);
    if (!kinds.under_way) continue;
    const value_proof::state reached = kinds.under_way->go_on(subject, out);
    if (reached == value_proof::state::open) continue;
    if (reached == value_proof::state::lost) kinds.beaten.push_back(kinds.under_way->candidate());
    kinds.under_way.reset();
  }
}

}  // namespace trimtab::steer
