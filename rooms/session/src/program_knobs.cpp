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
  steer::subject_info info{work.subject(), work.name(), {}};
  for (const observe::declared_knob& knob : knobs)
    info.knobs.push_back({knob.name,
                          domain_of(knob),
                          knob.initial,
                          0,
                          steer::consent::safe,
                          0,
                          {{std::string(steer::causes::undiagnosed), {}}}});
  return info;
}

}  // namespace

program_knobs::program_knobs(steer::knob_registry& registry, const std::vector<steer::setting>& settings)
    : m_registry(registry), m_prefix("program/" + std::string(program_invocation_short_name) + "/") {
  for (const steer::setting& setting : settings)
    if (setting.key.starts_with(m_prefix))
      for (const auto& [knob, text] : setting.values) m_known.push_back({setting.key.substr(m_prefix.size()), knob, text});
}

void program_knobs::begin() { observe::the_program_works.measure(std::move(m_known)); }

void program_knobs::offer(entry& loop_entry, const std::vector<observe::declared_knob>& knobs, steer::snapshot& now) {
  loop_entry.offered_knobs = knobs.size();
  loop_entry.values.clear();
  for (const observe::declared_knob& knob : knobs) loop_entry.values.push_back(knob.initial);
  // As the engine believes it to be; what earlier runs found is set in the same step.
  loop_entry.work->publish(0, loop_entry.values);
  const auto apply = [&loop_entry](std::uint32_t knob, steer::knob_value to) {
    loop_entry.values.at(knob) = to;
    return true;
  };
  const auto confirm = [&loop_entry](steer::decision_number number) { loop_entry.work->publish(number, loop_entry.values); };
  m_registry.offer(now, {describe(*loop_entry.work, knobs), m_prefix + loop_entry.work->name(), 0, apply, confirm});
}

void program_knobs::look_at(entry& loop_entry, steer::snapshot& now) {
  std::vector<observe::event_sum> sums = loop_entry.work->take();
  const std::vector<observe::declared_knob> knobs = observe::the_program_works.knobs_of(*loop_entry.work);
  if (loop_entry.offered_knobs != 0 && loop_entry.offered_knobs != knobs.size()) {
    m_registry.withdraw(now, loop_entry.work->subject());
    loop_entry.offered_knobs = 0;
    return;
  }
  if (loop_entry.offered_knobs == 0 && !knobs.empty() && loop_entry.work->has_events()) offer(loop_entry, knobs, now);
  if (loop_entry.offered_knobs == 0 || sums.empty()) return;
  steer::subject_state state{loop_entry.work->subject(), {}, {}};
  for (const observe::event_sum& sum : sums)
    if (sum.decision != observe::decision_of_earlier_run)
      state.measured.push_back({sum.decision, sum.cost / static_cast<double>(sum.events), sum.seconds});
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
  for (const entry& known_entry : m_entries)
    if (!known_entry.work->has_events())
      observe::the_recorder.unavailable(("knobs of " + known_entry.work->name()).c_str(), "none of its events has ended",
                                        "call trimtab_event_begin and trimtab_event_end around the work");
}

}  // namespace trimtab::session
