// The one file of this room that knows trimtab.h.
#include "traffic_recorder.hpp"

#include <pthread.h>
#include <trimtab.h>

#include <chrono>
#include <cmath>

#include "trimtab/parcels/counters/counters.hpp"
#include "trimtab/parcels/job/job.hpp"

namespace trimtab::parcels {

namespace {

constexpr std::chrono::milliseconds traffic_period{50};
constexpr std::size_t longest_phase_name = 100;
constexpr std::size_t most_phases = 1000;  // with different names
// Of a large job: what recording costs stays.
constexpr std::uint32_t localities_per_period = 32;

// Functions by their subject, which reports find in the source; the job's own parcels by their name. See
// docs/reference/run-directory.md, "Messages".
std::string flow_prefix(const char* object, locality_number from, locality_number to) {
  return std::string(object) + "{locality#" + std::to_string(from) + "/to#" + std::to_string(to);
}

std::string action_instance(const action_traffic& traffic) {
  const std::uint32_t subject = traffic.function == nullptr ? 0 : trimtab_attached_api->code_subject(traffic.function);
  return subject != 0 ? "/subject#" + std::to_string(subject - 1) : "/action#" + traffic.action;
}

}  // namespace

std::unique_ptr<traffic_recorder> traffic_recorder::open_if_watched(job& owner) {
  if (owner.size() == 1 || trimtab_steering_api() == nullptr) return nullptr;
  return std::make_unique<traffic_recorder>(owner);
}

traffic_recorder::traffic_recorder(job& owner) : m_job(owner) {
  const trimtab_api* const api = trimtab_attached_api;
  api->fact("rank", std::to_string(owner.here().number()).c_str());
  api->fact("size", std::to_string(owner.size()).c_str());
  m_thread = std::thread([this] { watch(); });
  pthread_setname_np(m_thread.native_handle(), "trimtab-traffic");
}

traffic_recorder::~traffic_recorder() {
  {
    const std::lock_guard guard(m_lock);
    m_is_ending = true;
  }
  m_ends.notify_all();
  m_thread.join();
  record();
}

void traffic_recorder::watch() {
  const auto period = traffic_period * (1 + m_job.size() / localities_per_period);
  std::unique_lock guard(m_lock);
  while (!m_ends.wait_for(guard, period, [this] { return m_is_ending; })) record();
}

void traffic_recorder::begin_phase(std::string_view name) {
  const std::string kept(name.substr(0, longest_phase_name));
  const std::lock_guard guard(m_lock);
  record();
  if (m_phases.size() == most_phases && !m_phases.contains(kept)) return;
  m_phases[kept] += 1;
  const std::string path = "/phase{locality#" + std::to_string(m_job.here().number()) + "/name#" + kept + "}/count/begun";
  set(path, "1", static_cast<double>(m_phases[kept]));
}

void traffic_recorder::record() {
  const traffic_snapshot counts(m_job);
  record_totals(counts);
  for (locality_number other = 0; other < counts.size; ++other)
    if (other != counts.number) record_destination(counts, other);
  for (const action_traffic& traffic : counts.actions) record_action(counts, traffic);
}

void traffic_recorder::record_totals(const traffic_snapshot& counts) {
  for (const char* const group : {"/parcels/*", "/messages/*", "/servers/*"})
    for (const traffic_counter& counter : find_counters(counts, group))
      set(counter.path(), counter.type().unit, counter.value(counts));
  if (counts.servers.empty()) return;
  // A server is in the report also if it has done nothing.
  for (const traffic_counter& counter : find_counters(counts, "/servers{locality#*/server#*}/*"))
    set(counter.path(), counter.type().unit, counter.value(counts), zero::counts);
}

void traffic_recorder::record_destination(const traffic_snapshot& counts, locality_number other) {
  const traffic_counts& sent = counts.destinations[other];
  const std::string messages = flow_prefix("/messages", counts.number, other) + "}";
  set(messages + "/count/sent", "1", static_cast<double>(sent.messages));
  set(messages + "/bytes/sent", "B", static_cast<double>(sent.message_bytes));
  set(flow_prefix("/parcels", counts.number, other) + "}/time/queued-wait", "s",
      static_cast<double>(sent.queued_wait) * counts.ns_per_tick * 1e-9);
}

void traffic_recorder::record_action(const traffic_snapshot& counts, const action_traffic& traffic) {
  const traffic_counts& sent = traffic.counts;
  if (sent.sent == 0) return;  // it has only come
  const std::string flow = flow_prefix("/parcels", counts.number, traffic.other) + action_instance(traffic) + "}";
  set(flow + "/count/sent", "1", static_cast<double>(sent.sent));
  set(flow + "/bytes/sent", "B", static_cast<double>(sent.sent_bytes));
  // Class k: below 2^k bytes, and not in an earlier one.
  for (std::size_t k = 0; k < traffic_counts::size_classes; ++k)
    set(flow + "/sizes/below-" + std::to_string(std::uint64_t{1} << k), "1", static_cast<double>(sent.sizes[k]));
}

void traffic_recorder::set(const std::string& path, const char* unit, double value, zero meaning) {
  if (std::isnan(value) || (value == 0 && meaning == zero::is_nothing)) return;
  const trimtab_api* const api = trimtab_attached_api;
  const auto [position, is_new] = m_series.try_emplace(path);
  series& entry = position->second;
  if (is_new) entry.counter = api->path_counter(path.c_str(), unit, 0);
  if (entry.counter == 0 || (!is_new && entry.last == value)) return;
  api->set(entry.counter, value);
  entry.last = value;
}

}  // namespace trimtab::parcels
