#include "trimtab/steer/thread_fitting/thread_fitting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trimtab::steer {

namespace {

std::optional<std::uint32_t> place_of_number(std::string_view name, const subject_info& of, bool has_consent) {
  const auto place = of.place_of(name);
  if (!place) return std::nullopt;
  const knob& its = of.knobs[*place];
  return its.values.is_ordered() && (its.asks == consent::safe || has_consent) ? place : std::nullopt;
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
  const figure* found = find_figure(seen.figures, name);
  for (const subject_view* subject : subjects)
    if (found == nullptr) found = find_figure(subject->figures, name);
  if (found == nullptr || !std::isfinite(found->value) || found->value < 0) return std::nullopt;
  return found->value;
}

std::vector<figure> thread_fitting::situation::evidence(std::initializer_list<std::string_view> names) const {
  std::vector<figure> told;
  for (const std::string_view name : names)
    if (const auto value = figure_of(name)) told.push_back({std::string(name), *value});
  return told;
}

std::vector<thread_fitting::fitted> thread_fitting::subjects_of(const view& now) {
  for (const subject_id each : now.gone) m_most.erase(each);
  std::vector<fitted> all;
  for (const subject_view& each : now.subjects) {
    const auto place = place_of_number(m_knob, each.info, now.has_consent);
    if (!place || each.is_others) continue;
    const knob& its = each.info.knobs[*place];
    const knob_value had = each.accepted[*place];
    const knob_value most = had == its.initial ? its.values.at(its.values.size() - 1) : had;
    all.push_back({&each, *place, m_most.emplace(each.info.id, most).first->second});
  }
  return all;
}

bool thread_fitting::is_on(const view& now) const {
  const figure* const told = find_figure(now.figures, figures::fitting);
  return told == nullptr ? m_is_on_at_first : told->value > 0;
}

void thread_fitting::observe(const view& now, std::vector<proposal>& out) {
  const std::vector<fitted> all = subjects_of(now);
  if (all.empty() || now.is_last) return;
  std::vector<const subject_view*> subjects;
  knob_value threads = 0, fewest = all.front().values().at(0), most = 0;
  for (const fitted& each : all) {
    subjects.push_back(each.subject);
    threads = std::max(threads, each.in_force());
    fewest = std::min(fewest, each.values().at(0));
    most = std::max(most, each.for_count(each.most));
  }
  const auto reachable = [&](knob_value limit) {
    knob_value best = fewest;
    for (const fitted& each : all)
      if (each.for_count(limit) <= limit) best = std::max(best, each.for_count(limit));
    return best;
  };
  if (m_count) threads = reachable(*m_count);
  situation here{now.time_s, threads, fewest, {}, {}, now, subjects};
  if (threads > fewest) here.fewer = reachable(threads - 1);
  for (const fitted& each : all)
    if (const auto above = each.above(threads); above && (!here.more || *above < *here.more)) here.more = above;
  const bool is_on_now = is_on(now), was_on = std::exchange(m_was_on, is_on_now);
  if (!is_on_now) {
    m_count = std::numeric_limits<knob_value>::max();
    m_latest = {*m_count, "it was switched off: as many as the program asks for", {{std::string(figures::fitting), 0}}};
  } else if (!was_on) {
    begin_anew(now.time_s);
  } else if (const auto found = judge(here)) {
    m_latest = *found;
    // Everything that there is now is no limit to what appears later.
    m_count = found->threads >= most ? std::numeric_limits<knob_value>::max() : reachable(found->threads);
  }
  for (const fitted& each : all) {
    proposal made;
    made.subject = each.subject->info.id;
    made.what = outcome::set;
    const knob_value wanted = m_count ? each.for_count(*m_count) : each.in_force();
    if (each.in_force() != wanted) made.changes.push_back({each.place, wanted});
    const auto bring = [&](std::string_view name, knob_value to) {
      const auto place = place_of_number(name, each.subject->info, now.has_consent);
      if (place && each.subject->in_force[*place] != to && each.subject->info.knobs[*place].values.contains(to))
        made.changes.push_back({*place, to});
    };
    bring(knobs::barrier_members, m_latest.barrier_members);
    bring(knobs::trial_members, m_latest.trial_members);
    bring(knobs::threads_if_bad, m_latest.threads_if_bad);
    if (made.changes.empty()) continue;
    made.reason = m_latest.reason;
    made.evidence = m_latest.evidence;
    out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer
