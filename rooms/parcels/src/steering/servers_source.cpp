#include "steering/servers_source.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::parcels {

namespace {

constexpr steer::subject_id servers_subject = 1u << 20;  // behind those of coalescing_source
constexpr const char* servers_name = "communication servers";
// A server that was never used before is a new thread.
constexpr double server_change_cost_s = 2e-5;

using steer::domain;

// 0, powers of two up to `most`, and these two.
domain numbers_of_servers(std::uint32_t own, std::uint32_t most) {
  std::vector<steer::knob_value> values{0, own, most};
  for (std::uint32_t servers = 1; servers < most; servers *= 2) values.push_back(servers);
  return steer::certain(domain::set(std::move(values)));
}

domain with_own(std::vector<steer::knob_value> values, steer::knob_value own) {
  values.push_back(own);
  return steer::certain(domain::set(std::move(values)));
}

// In the order of the knobs.
constexpr std::uint32_t server_settings::* turned_settings[] = {&server_settings::servers, &server_settings::consecutive,
                                                                &server_settings::most_under_way};

std::vector<steer::knob> knobs_of_servers(const server_settings& own, std::uint32_t places) {
  const auto knob = [](const char* name, domain values, std::uint32_t initial) {
    return steer::knob{name, std::move(values), initial, server_change_cost_s, steer::consent::safe, 0, {}};
  };
  return {knob("servers", numbers_of_servers(own.servers, std::max(own.servers, places)), own.servers),
          knob("consecutive", with_own({1, 2, 4, 7, 10}, own.consecutive), own.consecutive),
          knob("flow-limit", with_own({16, 32, 64, 128, 256}, own.most_under_way), own.most_under_way)};
}

}  // namespace

servers_source::servers_source(served_transport& servers, const exchange& traffic, double ns_per_tick,
                               steer::knob_registry& registry, std::string key)
    : m_servers(servers),
      m_traffic(traffic),
      m_ns_per_tick(ns_per_tick),
      m_registry(registry),
      m_key(std::move(key)),
      m_settings(servers.settings()) {}

bool servers_source::is_still_ours() {
  const std::lock_guard guard(m_turning);
  if (!m_is_left_to_program && m_servers.settings() != m_settings) m_is_left_to_program = true;
  return !m_is_left_to_program;
}

bool servers_source::turn(std::uint32_t knob, steer::knob_value to) {
  const std::lock_guard guard(m_turning);
  if (m_is_left_to_program) return false;
  server_settings next = m_settings;
  next.*turned_settings[knob] = static_cast<std::uint32_t>(to);
  const std::optional<server_settings> in_force = m_servers.replace(m_settings, next);
  if (!in_force) {
    m_is_left_to_program = true;
    return false;
  }
  m_settings = *in_force;
  return m_settings == next;
}

void servers_source::offer(steer::snapshot& now) {
  if (std::exchange(m_is_offered, true)) return;
  steer::subject_info info{servers_subject, servers_name, {}, traffic_group};
  info.knobs = knobs_of_servers(m_settings, m_servers.places());
  const std::string key = m_key.empty() ? "" : m_key + info.name;
  const std::uint32_t recorded = tasks::recording::subject_of(info.name.c_str(), "", 0);
  m_registry.offer(
      now, {std::move(info), key, recorded, [this](std::uint32_t knob, steer::knob_value to) { return turn(knob, to); },
            [this](steer::decision_number number) { m_under = number; }});
}

void servers_source::add_to(steer::snapshot& now) {
  if (!is_still_ours()) {
    if (std::exchange(m_is_offered, false)) m_registry.withdraw(now, servers_subject);
    m_is_at_rest = true;
    return;
  }
  const traffic_progress done = progress_of(m_traffic, m_ns_per_tick);
  const double seconds = now.time_s - m_last_s;
  const std::uint64_t parcels = done.parcels - m_last.parcels;
  m_is_at_rest = m_last_s < 0 || !is_measurement(parcels, seconds);
  if (!m_is_at_rest) {
    std::vector<steer::figure> figures = figures_between(m_last, done, seconds);
    if (has_something_to_gain(figures)) offer(now);
    m_is_at_rest = !m_is_offered;
    if (m_is_offered)
      now.subjects.push_back(
          {servers_subject, {{m_under, seconds / static_cast<double>(parcels), seconds, 0}}, std::move(figures)});
  }
  m_last = done;
  m_last_s = now.time_s;
}

}  // namespace trimtab::parcels
