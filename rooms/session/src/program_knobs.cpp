#include "program_knobs.hpp"

#include <errno.h>

#include <utility>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::session {

namespace {

steer::domain domain_of(const observe::declared_knob& knob) {
  if (!knob.names.empty()) return steer::certain(steer::domain::categories(knob.names));
  if (!knob.values.empty()) return steer::certain(steer::domain::set(knob.values));
  return steer::certain(steer::domain::range(knob.least, knob.most, knob.step));
}

steer::subject_info describe(const observe::program_work& work, const std::vector<observe::declared_knob>& knobs) {
  steer::subject_info made{work.subject(), work.name(), {}};
  for (const observe::declared_knob& knob : knobs)
    made.knobs.push_back({knob.name,
                          domain_of(knob),
                          knob.initial,
                          0,
                          steer::consent::safe,
                          0,
                          {{std::string(steer::causes::undiagnosed), {}}}});
  return made;
}

}  // namespace

program_knobs::program_knobs(steer::knob_registry& registry, const std::vector<steer::setting>& known)
    : m_registry(registry), m_prefix("program/" + std::string(program_invocation_short_name) + "/") {
  for (const steer::setting& each : known)
    if (each.key.starts_with(m_prefix))
      for (const auto& [knob, text] : each.values) m_known.push_back({each.key.substr(m_prefix.size()), knob, text});
}

void program_knobs::begin() { observe::the_program_works.measure(std::move(m_known)); }

void program_knobs::offer(entry& its, const std::vector<observe::declared_knob>& knobs, steer::snapshot& now) {
  its.offered_knobs = knobs.size();
  its.values.clear();
  for (const observe::declared_knob& knob : knobs) its.values.push_back(knob.initial);
  // As the engine believes it to be; what earlier runs found is set in the same step.
  its.work->publish(0, its.values);
  const auto apply = [&its](std::uint32_t knob, steer::knob_value to) {
    its.values.at(knob) = to;
    return true;
  };
  const auto confirm = [&its](steer::decision_number number) { its.work->publish(number, its.values); };
  m_registry.offer(now, {describe(*its.work, knobs), m_prefix + its.work->name(), 0, apply, confirm});
}

void program_knobs::look_at(entry& its, steer::snapshot& now) {
  std::vector<observe::event_sum> sums = its.work->take();
  const std::vector<observe::declared_knob> knobs = observe::the_program_works.knobs_of(*its.work);
  if (its.offered_knobs != 0 && its.offered_knobs != knobs.size()) {
    m_registry.withdraw(now, its.work->subject());
    its.offered_knobs = 0;
    return;
  }
  if (its.offered_knobs == 0 && !knobs.empty() && its.work->has_events()) offer(its, knobs, now);
  if (its.offered_knobs == 0 || sums.empty()) return;
  steer::subject_state state{its.work->subject(), {}, {}};
  for (const observe::event_sum& each : sums)
    if (each.decision != observe::decision_of_earlier_run)
      state.measured.push_back({each.decision, each.cost / static_cast<double>(each.events), each.seconds});
  const observe::event_sum& latest = sums.back();
  state.figures.push_back(
      {std::string(steer::figures::instance_seconds), latest.seconds / static_cast<double>(latest.events)});
  now.subjects.push_back(std::move(state));
}

void program_knobs::add_to(steer::snapshot& now) {
  for (std::size_t place = m_entries.size(); place < observe::the_program_works.count(); ++place)
    m_entries.push_back({&observe::the_program_works.at(place), 0, {}});
  for (entry& each : m_entries) look_at(each, now);
}

void program_knobs::conclude() {
  for (const entry& each : m_entries)
    if (!each.work->has_events())
      observe::the_recorder.unavailable(("knobs of " + each.work->name()).c_str(), "none of its events has ended",
                                        "call trimtab_event_begin and trimtab_event_end around the work");
}

}  // namespace trimtab::session
