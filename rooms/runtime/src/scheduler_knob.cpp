#include "scheduler_knob.hpp"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "trimtab/base/clock.hpp"
#include "trimtab/steer/policy_factory.hpp"
#include "trimtab/steer/tasks_advice.hpp"
#include "trimtab/steer/tasks_figures.hpp"
#include "trimtab/steer/tasks_scheduler.hpp"

namespace trimtab::task_steering {

namespace {

constexpr steer::subject_id scheduler_subject = 1;
// A life with less of it in loops or steps says nothing.
constexpr double least_life_s = 1e-3;
constexpr std::size_t most_names = 4096;
// Of engines in this process.
std::uint32_t next_engine() noexcept {
  static std::atomic<std::uint32_t> next{first_scheduler_engine};
  return next.fetch_add(1, std::memory_order_relaxed);
}

steer::subject_info describe_scheduler(std::uint32_t place, std::uint32_t workers, tasks::policy first) {
  const std::vector<std::string> names = offered_policies(workers, first);
  const auto at = std::find(names.begin(), names.end(), tasks::name_of(first)) - names.begin();
  return {scheduler_subject,
          "runtime " + std::to_string(place),
          {{std::string(steer::scheduler_choice::knob),
            steer::certain(steer::domain::categories(names)),
            at,
            0,
            steer::consent::safe,
            0,
            {}}}};
}

}  // namespace

std::vector<std::string> offered_policies(std::uint32_t workers, tasks::policy first) {
  using enum tasks::policy;
  std::vector<std::string> names;
  for (const tasks::policy each : {local, local_priority, abp_priority, hierarchy, static_priority, periodic_priority}) {
    // One worker steals from nobody: all that differs is which of its own tasks is next. A tree of two leaves is a queue.
    const std::uint32_t fewest = each == hierarchy ? 3 : each == local_priority || each == abp_priority ? 1 : 2;
    if (workers >= fewest || each == first) names.emplace_back(tasks::name_of(each));
  }
  return names;
}

scheduler_knob::scheduler_knob(std::uint32_t place, std::uint32_t workers, const scheduler_request& request,
                               const known_settings& settings)
    : m_how(request),
      m_key("tasks/" + std::string(program_invocation_short_name) + "/runtime " + std::to_string(place) + "/" +
            std::to_string(workers) + " workers"),
      m_info(describe_scheduler(place, workers, request.first)),
      m_begin_ns(base::monotonic_ns()),
      m_registry(m_knobs, [](const steer::knob_offer&) {}),  // recorded with the first runtime
      m_in_force(m_info.knobs[0].initial),
      m_number(next_engine()),
      m_record(m_info.name, m_number, request.is_printed),
      m_error(settings.error),
      m_built(built(settings)) {
  const steer::policy_context context{m_built.settings, [this](const steer::subject_info&) { return m_key; }, {}};
  for (const steer::policy_description& description : m_built.policies) {
    std::unique_ptr<steer::policy> policy_made = make(description, context);
    if (description.kind == "history") m_history = dynamic_cast<const steer::history_policy*>(policy_made.get());
    m_steering.add(std::move(policy_made));
  }
  step(false);
}

void scheduler_knob::add_to(steer::snapshot& now) {
  const auto apply = [this](std::uint32_t, steer::knob_value to) {
    m_in_force = to;
    return true;
  };
  const auto confirm = [this](steer::decision_number number) { m_under = number; };
  if (!std::exchange(m_is_offered, true)) m_registry.offer(now, {m_info, m_key, 0, apply, confirm});
  if (m_ended) now.subjects.push_back(std::move(*m_ended));
  m_ended.reset();
}

std::unique_ptr<steer::policy> scheduler_knob::make(const steer::policy_description& description,
                                                    const steer::policy_context& context) {
  if (description.kind != steer::outside_kind) return steer::make_policy(description, context).made;
  auto policy_made =
      make_outside(description, "scheduler-" + std::to_string(m_number - first_scheduler_engine + 1), context.key_of);
  m_outside = policy_made.get();
  return policy_made;
}

steer::recording_head scheduler_knob::built(const known_settings& settings) const {
  steer::recording_head head = steer::head_of({});
  head.runtime = m_number;
  head.settings = settings.settings;
  head.policies.push_back({"history"});
  if (m_how.is_searched && !settings.policy_file.empty())
    head.policies.push_back(describe_outside(settings.policy_file));
  else if (m_how.is_searched && !settings.is_frozen)
    head.policies.push_back({"scheduler", {{"seed", std::to_string(m_how.seed)}}});
  return head;
}

tasks::policy scheduler_knob::in_force() const {
  const std::lock_guard guard(m_lock);
  return tasks::policy_of(m_info.knobs[0].values.text_of(m_in_force)).value_or(m_how.first);
}

steer::decision_number scheduler_knob::under() const {
  const std::lock_guard guard(m_lock);
  return m_under;
}

void scheduler_knob::begun(std::uint32_t recorded) {
  const std::lock_guard guard(m_lock);
  if (!std::exchange(m_is_recorded, true)) {
    m_record.add(m_info, recorded, m_key);
    m_snapshots = m_record.snapshots_of(m_built);
  }
  flush();
}

void scheduler_knob::ended(steer::decision_number decision_number, const life& ended_life) {
  const std::lock_guard guard(m_lock);
  if (m_is_over) return;
  m_ended = {scheduler_subject, {}, ended_life.figures};
  if (const auto measurement = measured(decision_number, ended_life.work)) m_ended->measured.push_back(*measurement);
  step(false);
  flush();
  tell(ended_life.figures);
  if (m_record.has_lines()) m_record.print(stderr);
}

void scheduler_knob::close() {
  const std::lock_guard guard(m_lock);
  if (std::exchange(m_is_over, true)) return;
  step(true);
  flush();
}

void scheduler_knob::step(bool is_last) {
  steer::snapshot now;
  now.is_last = is_last;
  add_to(now);
  now.time_s = static_cast<double>(base::monotonic_ns() - m_begin_ns) * 1e-9;
  made_step step_done;
  for (const steer::decision& active_decision : m_steering.step(now))
    step_done.made.push_back({active_decision, m_knobs.apply(active_decision)});
  if (m_outside != nullptr) step_done.answer = m_outside->take_answered(), step_done.fault = m_outside->take_fault();
  step_done.told = std::move(now);
  step_done.latest = m_steering.latest();
  m_unwritten.push_back(std::move(step_done));
}

// Time over what the same work took when it was first seen, so that it does not matter how much of which there was.
std::optional<steer::measurement> scheduler_knob::measured(steer::decision_number decision_number,
                                                           const std::vector<work_total>& work) {
  double took_s = 0, first_s = 0;
  for (const work_total& total : work) {
    if (!(total.seconds > 0) || !(total.units > 0)) continue;
    if (m_first_unit_s.size() >= most_names && !m_first_unit_s.contains(total.name)) continue;
    took_s += total.seconds;
    first_s += total.units * m_first_unit_s.try_emplace(total.name, total.seconds / total.units).first->second;
  }
  if (took_s < least_life_s || !(first_s > 0)) return std::nullopt;
  return steer::measurement{decision_number, took_s / first_s, took_s};
}

// For `trimtab tune`, which tries over several runs what cannot be measured in one.
void scheduler_knob::tell(const std::vector<steer::figure>& figures) {
  const steer::domain& values = m_info.knobs[0].values;
  const std::string now = values.text_of(m_in_force);
  const auto workers = static_cast<std::uint32_t>(steer::figure_or(figures, steer::figures::workers, 0));
  std::string advised, reason, others;
  for (const steer::advice& advised_policy : steer::advised_policies(now, workers, figures))
    if (advised.empty() && values.value_of(advised_policy.policy))
      advised = advised_policy.policy, reason = advised_policy.reason;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::string name = values.text_of(values.at(i)); name != now) others += (others.empty() ? "" : ",") + name;
  // Reasons have figures, which are never the same twice: once for each policy that they speak for is enough.
  const auto is_new = [&](const char* feature_is_new, const std::string& value) {
    return !value.empty() && std::exchange(m_told[feature_is_new], value) != value;
  };
  if (is_new("now", now)) m_record.fact("scheduler " + m_key, now);
  if (is_new("others", others)) m_record.fact("schedulers " + m_key, others);
  if (!is_new("advised", advised)) return;
  m_record.fact("scheduler-advised " + m_key, advised + ": " + reason);
  m_record.advise(advised, reason);
}

void scheduler_knob::flush() {
  constexpr const char *feature = "what earlier runs found", *remedy = "trimtab history list";
  if (!m_is_recorded) return;
  for (const made_step& step_done : std::exchange(m_unwritten, {})) {
    if (m_snapshots) {
      if (!step_done.told.appeared.empty())
        m_snapshots->about({scheduler_subject, m_key, m_record.recorded(scheduler_subject)});
      if (step_done.answer) m_snapshots->answered(*step_done.answer);
      if (step_done.fault) m_snapshots->failed(*step_done.fault);
      m_snapshots->step(step_done.told, step_done.latest);
    }
    for (const decided& active_decision : step_done.made) {
      if (m_snapshots && !active_decision.is_applied) m_snapshots->unapplied(active_decision.what.number);
      m_record.write(active_decision.what, active_decision.is_applied);
      if (m_how.told) m_how.told(active_decision.what, m_info, active_decision.is_applied);
    }
  }
  if (!m_error.empty()) m_record.unavailable(feature, std::exchange(m_error, "").c_str(), remedy);
  for (; m_misfits_told < m_history->misfits().size(); ++m_misfits_told)
    m_record.unavailable(feature, m_history->misfits()[m_misfits_told].c_str(), remedy);
}

}  // namespace trimtab::task_steering
