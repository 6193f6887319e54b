#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trimtab::steer {

namespace {

std::optional<std::uint32_t> place_of_number(std::string_view name, const subject_info& subject, bool has_consent) {
  const auto place = subject.place_of(name);
  if (!place) return std::nullopt;
  const knob& knob = subject.knobs[*place];
  return knob.values.is_ordered() && (knob.asks == consent::safe || has_consent) ? place : std::nullopt;
}

// The largest that is not above the limit; otherwise the least there is.
knob_value at_most(const domain& values, knob_value limit) {
  const std::size_t nearest = values.nearest_index(limit);
  return values.at(nearest > 0 && values.at(nearest) > limit ? nearest - 1 : nearest);
}

}  // namespace

struct thread_fitting::fitted {
  const subject_view* subject;
  std::uint32_t place;
  knob_value most;
  const domain& values() const { return subject->info.knobs[place].values; }
  knob_value in_force() const { return subject->in_force[place]; }
  knob_value for_count(knob_value count) const { return at_most(values(), std::min(count, most)); }
  std::optional<knob_value> above(knob_value count) const {
    for (std::size_t i = values().nearest_index(count); i < values().size() && values().at(i) <= most; ++i)
      if (values().at(i) > count) return values().at(i);
    return std::nullopt;
  }
};

std::optional<double> thread_fitting::situation::figure_of(std::string_view name) const {
  const figure* match = find_figure(seen.figures, name);
  for (const subject_view* subject : subjects)
    if (match == nullptr) match = find_figure(subject->figures, name);
  if (match == nullptr || !std::isfinite(match->value) || match->value < 0) return std::nullopt;
  return match->value;
}

std::vector<figure> thread_fitting::situation::evidence(std::initializer_list<std::string_view> names) const {
  std::vector<figure> figures;
  for (const std::string_view name : names)
    if (const auto value = figure_of(name)) figures.push_back({std::string(name), *value});
  return figures;
}

std::vector<thread_fitting::fitted> thread_fitting::subjects_of(const view& now) {
  for (const subject_id gone : now.gone) m_most.erase(gone);
  std::vector<fitted> all;
  for (const subject_view& subject : now.subjects) {
    const auto place = place_of_number(m_knob, subject.info, now.has_consent);
    if (!place || subject.is_others) continue;
    const knob& knob = subject.info.knobs[*place];
    const knob_value before = subject.accepted[*place];
    const knob_value largest = before == knob.initial ? knob.values.at(knob.values.size() - 1) : before;
    all.push_back({&subject, *place, m_most.emplace(subject.info.id, largest).first->second});
  }
  return all;
}

bool thread_fitting::is_on(const view& now) const {
  const figure* const fitting = find_figure(now.figures, figures::fitting);
  return fitting == nullptr ? m_is_on_at_first : fitting->value > 0;
}

void thread_fitting::observe(const view& now, std::vector<proposal>& out) {
  const std::vector<fitted> all = subjects_of(now);
  if (all.empty() || now.is_last) return;
  std::vector<const subject_view*> subjects;
  knob_value threads = 0, fewest = all.front().values().at(0), largest = 0;
  for (const fitted& candidate : all) {
    subjects.push_back(candidate.subject);
    threads = std::max(threads, candidate.in_force());
    fewest = std::min(fewest, candidate.values().at(0));
    largest = std::max(largest, candidate.for_count(candidate.most));
  }
  const auto reachable = [&](knob_value limit) {
    knob_value best = fewest;
    for (const fitted& candidate : all)
      if (candidate.for_count(limit) <= limit) best = std::max(best, candidate.for_count(limit));
    return best;
  };
  if (m_count) threads = reachable(*m_count);
  situation now_fitted{now.time_s, threads, fewest, {}, {}, now, subjects};
  if (threads > fewest) now_fitted.fewer = reachable(threads - 1);
  for (const fitted& candidate : all)
    if (const auto larger = candidate.above(threads); larger && (!now_fitted.more || *larger < *now_fitted.more))
      now_fitted.more = larger;
  const bool is_enabled_now = is_on(now), was_enabled = std::exchange(m_was_on, is_enabled_now);
  if (!is_enabled_now) {
    m_count = std::numeric_limits<knob_value>::max();
    m_latest = {*m_count, "it was switched off: as many as the program asks for", {{std::string(figures::fitting), 0}}};
  } else if (!was_enabled) {
    begin_anew(now.time_s);
  } else if (const auto verdict_now = judge(now_fitted)) {
    m_latest = *verdict_now;
    // Everything that there is now is no limit to what appears later.
    m_count = verdict_now->threads >= largest ? std::numeric_limits<knob_value>::max() : reachable(verdict_now->threads);
  }
  for (const fitted& candidate : all) {
    proposal proposed;
    proposed.subject = candidate.subject->info.id;
    proposed.what = outcome::set;
    const knob_value wanted = m_count ? candidate.for_count(*m_count) : candidate.in_force();
    if (candidate.in_force() != wanted) proposed.changes.push_back({candidate.place, wanted});
    const auto bring = [&](std::string_view name, knob_value to) {
      const auto place = place_of_number(name, candidate.subject->info, now.has_consent);
      if (place && candidate.subject->in_force[*place] != to && candidate.subject->info.knobs[*place].values.contains(to))
        proposed.changes.push_back({*place, to});
    };
    bring(knobs::barrier_members, m_latest.barrier_members);
    bring(knobs::trial_members, m_latest.trial_members);
    bring(knobs::threads_if_bad, m_latest.threads_if_bad);
    if (proposed.changes.empty()) continue;
    proposed.reason = m_latest.reason;
    proposed.evidence = m_latest.evidence;
    out.push_back(std::move(proposed));
  }
}

}  // namespace trimtab::steer
