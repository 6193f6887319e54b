#include "steering_parts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "policies.hpp"
#include "trimtab/base/append_file.hpp"
#include "trimtab/observe/policy_files.hpp"
#include "trimtab/openmp/steering.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

constexpr double longest_tick_s = 0.3;
constexpr double policy_limit_s = 1;  // then the knobs are brought back by the sampler thread

steer::outside_exchange exchange_in(const std::string& folder) {
  const observe::policy_files files(folder, "");
  return {[files](const std::string& snapshot) { files.put_snapshot(snapshot); },
          [files](std::string& into) { return files.take_answer(into); }};
}

// Since the first use.
double seconds() {
  static const base::ticks begin = base::now();
  return static_cast<double>(base::now() - begin) * the_recorder.clock().ns_per_tick * 1e-9;
}

rhythm rhythm_of(const steering_options& chosen) {
  if (chosen.threads == thread_policy::off && chosen.has_settings_only()) return of_recall;
  if (chosen.threads == thread_policy::regions || chosen.policy == steer_policy::outside) return of_others;
  return chosen.threads != thread_policy::off ? of_fitting : of_searches;
}

steer::engine_options options_with_clock(const steer::recording_head& built) {
  steer::engine_options options = steer::options_of(built);
  options.clock = base::thread_seconds;
  return options;
}

}  // namespace

steering_parts::steering_parts(const steering_options& chosen, std::vector<steer::setting> settings)
    : m_record(the_recorder),
      m_registry(m_knobs, [this](const steer::knob_offer& offered) { offer(offered); }),
      m_sources(make_sources(chosen, m_registry, settings)),
      m_fits_threads(chosen.fits_threads()),
      m_has_regions(chosen.threads == thread_policy::regions),
      m_looks(rhythm_of(chosen)),
      m_built(engine_of(chosen, std::move(settings))),
      m_engine(options_with_clock(m_built)),
      m_conductor(
          m_engine, m_knobs, [this] { return m_ticked_s.load(); },
          [this](const steer::decision& decision_made, bool is_applied) { tell(decision_made, is_applied); },
          [this](const steer::snapshot& latest_snapshot, steer::decision_number decided) {
            write_down(latest_snapshot, decided);
          }) {}

void steering_parts::begin_in(const std::string& folder) {
  m_by_hand = std::make_unique<steer::manual_panel>(steer::manual_panel::place{folder}, m_knobs);
  for (const steer::policy_description& policy : m_built.policies) add(policy, folder);
  if (m_outside != nullptr && !m_fits_threads) m_machine.emplace();
  if (the_recorder.options().has_snapshots) m_recorded = recording_into(folder);
}

void steering_parts::turn_on() {
  if (std::exchange(m_is_turned_on, true)) return;
  for (const auto& source : m_sources) source->begin();
}

void steering_parts::turn_off() noexcept {
  for (const auto& source : m_sources) source->after_fork();
}

void steering_parts::add(const steer::policy_description& description, const std::string& folder) {
  const auto key = [this](const steer::subject_info& subject) { return m_registry.key_of(subject.id); };
  steer::made_policy fresh = make_policy(description, {m_built.settings, key, openmp::same_points}, exchange_in(folder));
  if (!fresh.mistake.empty())
    the_recorder.unavailable("a tunable of --threads", fresh.mistake.c_str(),
                             "docs/reference/thread-policies.md lists them");
  if (!fresh.made) return;
  if (description.kind == "history") m_history = dynamic_cast<steer::history_policy*>(fresh.made.get());
  if (description.kind == steer::outside_kind) m_outside = dynamic_cast<steer::outside_policy*>(fresh.made.get());
  m_engine.add(std::move(fresh.made));
}

std::unique_ptr<steer::recording_writer> steering_parts::recording_into(std::string folder) const {
  return std::make_unique<steer::recording_writer>(
      m_built, steer::recording_writer::into{[file = std::move(folder) + "/snapshots.txt"](std::string_view text) {
                                               return base::append_file(file.c_str(), text);
                                             },
                                             [](const std::string& reason) {
                                               the_recorder.unavailable("further snapshots", reason.c_str(),
                                                                        "the run can be replayed until there");
                                             }});
}

void steering_parts::write_down(const steer::snapshot& latest_snapshot, steer::decision_number decided) {
  if (!m_recorded) return;
  for (const steer::subject_info& subject : latest_snapshot.appeared)
    m_recorded->about({subject.id, m_registry.key_of(subject.id), subject.id});
  if (m_outside != nullptr) {
    if (auto answer = m_outside->take_answered()) m_recorded->answered(*std::move(answer));
    if (auto fault = m_outside->take_fault()) m_recorded->failed(*std::move(fault));
  }
  m_recorded->step(latest_snapshot, decided);
}

void steering_parts::offer(const steer::knob_offer& offered) {
  m_record.add(offered.info, offered.key);
  m_by_hand->add(offered.info, offered.info.id, m_record.knobs_of(offered.info.id));
  if (m_by_hand->failure() == 0 || std::exchange(m_has_told_of_panel, true)) return;
  the_recorder.unavailable("turning knobs by hand", std::strerror(m_by_hand->failure()),
                           "everything but trimtab top --set works");
}

void steering_parts::tell(const steer::decision& decision_made, bool is_applied) {
  m_by_hand->decided(decision_made, is_applied);
  if (!is_applied && m_recorded) m_recorded->unapplied(decision_made.number);
  if (!is_applied) return;
  m_record.write(decision_made, base::now());
  m_looks.decided(decision_made.time_s);
  for (const auto& source : m_sources) source->decided(decision_made);
}

void steering_parts::tick() {
  const double now_s = seconds();
  m_ticked_s.store(m_ticked_s.load() + std::min(now_s - m_latest_tick_s, longest_tick_s));
  m_latest_tick_s = now_s;
}

std::string steering_parts::end_overdue_policy() { return m_conductor.look_after(policy_limit_s); }

// Where numbers of threads are fitted it is not crowded for long, and whoever fits them must not be late.
void steering_parts::pace_by(steer::snapshot& now) {
  for (const steer::subject_state& subject : now.subjects)
    for (const steer::figure& figure : subject.figures)
      if (figure.name == steer::figures::instance_seconds) m_looks.measured(now.time_s, subject.id, figure.value);
  if (m_looks.asks(now.time_s)) m_looks.told(now.time_s, m_delayed = m_lanes.delay_share());
  // Of nobody else: loops have no knob against it.
  if ((m_has_regions || m_outside != nullptr) && m_delayed)
    now.figures.push_back({std::string(steer::figures::run_delay_share), *m_delayed});
}

double steering_parts::period_s() const {
  const double now_s = seconds();
  return m_looks.period_s(
      now_s, m_outside == nullptr && std::all_of(m_sources.begin(), m_sources.end(),
                                                 [now_s](const auto& source) { return source->is_at_rest(now_s); }));
}

void steering_parts::advance(bool is_last) {
  if (is_last && m_conductor.is_given_up()) return;
  steer::snapshot now;
  now.time_s = seconds();
  now.is_last = is_last;
  for (const auto& source : m_sources) source->add_to(now);
  if (!m_fits_threads) pace_by(now);
  if (m_machine) m_machine->add_to(now.figures);
  m_by_hand->add_to(now);
  m_conductor.advance(std::move(now));
  for (; m_misfits < m_history->misfits().size(); ++m_misfits)
    the_recorder.unavailable("a setting of the history", m_history->misfits()[m_misfits].c_str(), "trimtab history forget");
}

void steering_parts::write_end() {
  for (const auto& source : m_sources) source->conclude();
  m_record.write(m_engine);
}

}  // namespace trimtab::session
