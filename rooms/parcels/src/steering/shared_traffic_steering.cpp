#include "steering/shared_traffic_steering.hpp"

#include <errno.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {

namespace {

// The first look after a change has parcels in it that were queued before.
constexpr std::uint32_t settle_looks = 1;

bool is_kind_of_traffic(const std::string& name) {
  for (std::uint32_t kind = 0; kind < traffic_kinds; ++kind)
    if (name == name_of_traffic(kind)) return true;
  return false;
}

}  // namespace

shared_traffic_steering::shared_traffic_steering(exchange& traffic, const job_options& options,
                                                 std::shared_ptr<shared_tuning> tuning)
    : m_tuning(std::move(tuning)),
      m_registry(m_knobs, [](const steer::knob_offer&) {}),
      m_source(traffic, options.standard, tasks::runtime::ns_per_tick(), m_registry, "") {
  const bool is_started = m_thread.start("tt-together", {[this] { return m_is_at_rest ? quiet_look_s : busy_look_s; },
                                                         [this](bool is_last) {
                                                           if (!is_last) advance();
                                                         },
                                                         [](const char*) {}});
  if (!is_started) throw std::system_error(EAGAIN, std::generic_category(), "tt-together");
}

shared_traffic_steering::~shared_traffic_steering() {
  // It never waits for anything but locks.
  constexpr double patience_s = 1;
  while (!m_thread.end(patience_s)) {
  }
  for (const auto& [id, each] : m_traffic) m_tuning->remove(each.member);
}

void shared_traffic_steering::advance() {
  steer::snapshot now;
  now.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
  m_source.add_to(now);
  m_is_at_rest = m_source.is_at_rest(now.time_s);
  for (const steer::subject_info& each : now.appeared)
    if (is_kind_of_traffic(each.name)) add(each);
  for (const steer::subject_id gone : now.gone) {
    const auto position = m_traffic.find(gone);
    if (position == m_traffic.end()) continue;
    m_tuning->remove(position->second.member);
    m_traffic.erase(position);
  }
  for (const steer::subject_state& each : now.subjects) {
    const auto position = m_traffic.find(each.id);
    if (position == m_traffic.end()) continue;
    for (const steer::measurement& measured : each.measured)
      if (measured.under == position->second.in_force) m_tuning->sample(*position->second.member, measured.value);
  }
}

void shared_traffic_steering::add(const steer::subject_info& traffic) {
  std::vector<steer::knob> knobs = traffic.knobs;
  for (steer::knob& each : knobs) each.settle = settle_looks;
  auto member = std::make_shared<shared_tuning_member>(
      traffic.name, std::move(knobs),
      [this, id = traffic.id](const steer::knob_values& values) { return apply(id, values); },
      steer::shared_search_options{});
  m_traffic[traffic.id].member = member;
  m_tuning->add(member);
}

bool shared_traffic_steering::apply(steer::subject_id traffic, const steer::knob_values& values) {
  const std::vector<steer::knob_value> before = m_knobs.values(traffic);
  if (before.size() != values.size()) return false;
  steer::decision made;
  made.number = ++m_last;
  made.subject = traffic;
  made.what = steer::outcome::set;
  for (std::uint32_t i = 0; i < values.size(); ++i)
    if (before[i] != values[i]) made.changes.push_back({i, before[i], values[i]});
  if (!m_knobs.apply(made)) return false;
  m_traffic[traffic].in_force = made.number;
  return true;
}

}  // namespace trimtab::parcels
