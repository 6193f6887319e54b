#include "steering/traffic_steering.hpp"

#include <errno.h>

#include <atomic>
#include <string>
#include <utility>

#include "trimtab.h"
#include "trimtab/steer/log.hpp"
#include "trimtab/steer/manual_policy.hpp"
#include "trimtab/steer/policy_factory.hpp"

namespace trimtab::parcels {

namespace {

std::uint32_t next_number() noexcept {
  static std::atomic<std::uint32_t> next{task_steering::first_messages_engine};
  return next.fetch_add(1);
}

// How later runs find what was learned.
std::string key_prefix() { return "tasks/" + std::string(program_invocation_short_name) + "/"; }

}  // namespace

traffic_steering::traffic_steering(exchange& traffic, served_transport* servers, const job_options& options)
    : m_number(next_number()),
      m_record("messages of locality " + std::to_string(traffic.number()), m_number, false),
      m_registry(*m_knobs, [this](const steer::knob_offer& offered) { offer(offered); }),
      m_known(task_steering::settings_of_earlier_runs()),
      m_source(traffic, options.standard, tasks::runtime::ns_per_tick(), m_registry, key_prefix()),
      m_servers(servers == nullptr ? nullptr
                                   : std::make_unique<servers_source>(*servers, traffic, tasks::runtime::ns_per_tick(),
                                                                      m_registry, key_prefix())),
      m_built(built()),
      m_snapshots(m_record.snapshots_of(m_built)),
      m_threads({.engine = steer::options_of(m_built), .knobs = m_knobs}, policies(),
                {[this](steer::snapshot& snapshot) { add_to(snapshot); },
                 [this](const steer::decision& decision_made, bool is_applied) {
                   m_by_hand.decided(decision_made, is_applied);
                   if (!is_applied && m_snapshots) m_snapshots->unapplied(decision_made.number);
                   m_record.write(decision_made, is_applied);
                 },
                 [this](const steer::snapshot& latest_snapshot, steer::decision_number decided) {
                   stepped(latest_snapshot, decided);
                 },
                 [this] { return is_at_rest() ? quiet_look_s : busy_look_s; }}) {}

traffic_steering::~traffic_steering() {
  m_threads.end();
  const std::string reason = m_threads.given_up();
  if (reason.empty())
    m_record.write(m_threads.engine());
  else
    m_record.unavailable(reason.c_str(), "it did not return, or threw",
                         "what was on trial was undone, and nothing was steered any more");
}

void traffic_steering::add_to(steer::snapshot& snapshot) {
  m_source.add_to(snapshot);
  if (m_servers != nullptr) m_servers->add_to(snapshot);
  m_by_hand.add_to(snapshot);
}

void traffic_steering::offer(const steer::knob_offer& offered) {
  m_record.add(offered.info, offered.recorded, offered.key);
  m_by_hand.add(offered.info, m_record.recorded(offered.info.id), m_record.knobs_of(offered.info.id));
}

steer::manual_panel::place traffic_steering::panel_place() const {
  const char* const folder = trimtab_process_folder();
  return {folder == nullptr ? "" : folder, "messages-" + std::to_string(m_number), std::uint64_t{m_number} << 32};
}

bool traffic_steering::is_at_rest() const {
  return m_source.is_at_rest(0) && (m_servers == nullptr || m_servers->is_at_rest(0));
}

steer::recording_head traffic_steering::built() const {
  steer::recording_head head = steer::head_of({});
  head.runtime = m_number;
  head.policies = {{std::string(steer::manual_policy::kind)}, {"history"}};
  if (!m_known.is_frozen) head.policies.push_back({"message-tuner", {{"seed", "1"}}});
  head.settings = m_known.settings;
  return head;
}

std::vector<std::unique_ptr<steer::policy>> traffic_steering::policies() const {
  const steer::policy_context context{
      m_built.settings, [this](const steer::subject_info& subject) { return m_registry.key_of(subject.id); }, {}};
  std::vector<std::unique_ptr<steer::policy>> policies;
  policies.reserve(m_built.policies.size());
  for (const steer::policy_description& one : m_built.policies) policies.push_back(steer::make_policy(one, context).made);
  return policies;
}

void traffic_steering::stepped(const steer::snapshot& latest_snapshot, steer::decision_number decided) {
  if (!m_snapshots) return;
  for (const steer::subject_info& one : latest_snapshot.appeared)
    m_snapshots->about({one.id, m_registry.key_of(one.id), m_record.recorded(one.id)});
  m_snapshots->step(latest_snapshot, decided);
}

}  // namespace trimtab::parcels
