#include "trimtab/steer/tasks_priority.hpp"

#include <cmath>

#include "printed.hpp"

namespace trimtab::steer {

namespace {

constexpr std::uint64_t alone = std::uint64_t{1} << 63;

}  // namespace

// A subject that is in no group is one by itself.
std::uint64_t initiating_priority::group_of(const subject_view& subject) noexcept {
  return subject.info.group != 0 ? subject.info.group : alone | subject.info.id;
}

void initiating_priority::go_on(state_of_group& group, const view& now, std::vector<proposal>& out) {
  auto& [kind, proof] = *group.under_way;
  const subject_view* const subject = now.find(kind);
  if (subject == nullptr) return;
  proof.take_in(*subject, m_random);
  if (!proof.go_on(group.beaten[kind], *subject, out)) group.under_way.reset();
}

// The kind that most idle time waited for, of those that are not raised and were not tried.
void initiating_priority::begin(state_of_group& group, std::uint64_t number, const view& now) {
  const subject_view* best = nullptr;
  double most = m_options.least_share;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(knob);
    if (!place || subject.is_others || group_of(subject) != number || !subject.has_level || subject.measured.empty())
      continue;
    const std::optional<knob_value> high = subject.info.knobs[*place].values.value_of(std::string(raised));
    if (!high || subject.accepted[*place] == *high || group.beaten[subject.info.id].contains(*high)) continue;
    const double share = figure_or(subject.figures, figures::delayed_share, 0);
    if (share < most) continue;
    best = &subject;
    most = share;
  }
  if (best == nullptr) return;
  const std::uint32_t place = *best->info.place_of(knob);
  // Each proof has half of what is left of alpha.
  trial_options test;
  test.alpha = m_options.alpha / std::exp2(++group.proofs);
  test.least_gain = m_options.least_gain;
  const std::string reason = printed(
      "workers were idle for %.0f %% of their time behind tasks of this kind that had waited for a worker", 100 * most);
  group.under_way.emplace(best->info.id, value_proof({place,
                                                      best->accepted[place],
                                                      *best->info.knobs[place].values.value_of(std::string(raised)),
                                                      reason,
                                                      {best->figures.begin(), best->figures.end()},
                                                      test},
                                                     m_random));
}

void initiating_priority::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone)
    for (auto& [number, group] : m_groups) {
      group.beaten.erase(gone);
      if (group.under_way && group.under_way->first == gone) group.under_way.reset();
    }
  if (now.is_last) return;
  std::set<std::uint64_t> numbers;
  for (const subject_view& subject : now.subjects)
    if (subject.info.place_of(knob)) numbers.insert(group_of(subject));
  for (const std::uint64_t number : numbers) {
    state_of_group& group = m_groups[number];
    if (!group.under_way) begin(group, number, now);
    if (group.under_way) go_on(group, now, out);
  }
}

}  // namespace trimtab::steer
