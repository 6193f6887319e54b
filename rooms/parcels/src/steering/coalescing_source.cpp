#include "steering/coalescing_source.hpp"

#include <algorithm>
#include <utility>

#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::parcels {

namespace {

// Only if one kind has at least this share of the parcels of an epoch is the epoch a measurement of that kind.
constexpr double least_kind_share = 0.9;
constexpr double change_cost_s = 2e-6;
constexpr std::size_t most_subjects = 64;

using steer::domain;

// One knob for each setting of a way.
struct setting_knob {
  const char* name;
  domain values;
  std::uint32_t coalescing::* member;
};

// Strict settings as published; adaptive ones for a kind of traffic.
std::vector<setting_knob> knobs_of(const coalescing& settings, std::uint32_t kind) {
  if (settings.rules == coalescing::way::strict)
    return {{"count", steer::certain(domain::powers_of_two(1, 4096)), &coalescing::count},
            {"wait", steer::certain(domain::set({20, 100, 500, 1000, 2000, 4000})), &coalescing::wait_us}};
  // A part of what comes at a time, so that the receiver begins with it while the rest is queued.
  const std::vector<steer::knob_value> batches[traffic_kinds] = {
      {0, 1}, {0, 8, 16, 32}, {0, 32, 128, 512}, {0, 128, 512, 2048}};
  return {{"batch", steer::certain(domain::set(batches[kind])), &coalescing::batch},
          {"under-way", steer::certain(domain::powers_of_two(1, 16)), &coalescing::most_under_way},
          {"most-bytes", steer::certain(domain::powers_of_two(1 << 10, 256 << 10)), &coalescing::most_bytes}};
}

// The domain with the program's own value, which may be any.
domain with(const domain& values, steer::knob_value own) {
  if (values.contains(own)) return values;
  std::vector<steer::knob_value> all{own};
  for (std::size_t i = 0; i < values.size(); ++i) all.push_back(values.at(i));
  return steer::certain(domain::set(std::move(all)));
}

}  // namespace

std::string name_of_traffic(std::uint32_t kind) {
  const std::string begin = "messages, " + std::to_string(least_bursts[kind]);
  if (kind == 0) return begin + " parcel at a time";
  if (kind == traffic_kinds - 1) return begin + " and more parcels at a time";
  return begin + " to " + std::to_string(least_bursts[kind + 1] - 1) + " parcels at a time";
}

coalescing_source::coalescing_source(exchange& traffic, const coalescing& standard, double ns_per_tick,
                                     steer::knob_registry& registry, std::string key)
    : m_traffic(traffic),
      m_standard(standard),
      m_ns_per_tick(ns_per_tick),
      m_registry(registry),
      m_key(std::move(key)),
      m_is_offered(1) {}

void coalescing_source::leave_to_program() {
  const std::lock_guard guard(m_turning);
  m_is_left_to_program = true;
}

bool coalescing_source::turn(subject& which, std::uint32_t knob, steer::knob_value to) {
  const std::lock_guard guard(m_turning);
  if (which.of == nullptr && m_is_left_to_program) return false;
  which.settings.*which.members[knob] = static_cast<std::uint32_t>(to);
  if (which.of != nullptr)
    which.of->set(which.settings, true);
  else if (m_kind_in_force == which.traffic_kind)
    m_traffic.set_standard(which.traffic_kind, which.settings);
  return true;
}

// What was learned for one kind says nothing of a mixture.
void coalescing_source::put_in_force(std::optional<std::uint32_t> kind) {
  const std::lock_guard guard(m_turning);
  if (m_kind_in_force == kind || m_is_left_to_program) return;
  if (m_kind_in_force) m_traffic.set_standard(*m_kind_in_force, m_standard);
  m_kind_in_force = kind;
  for (const auto& [id, each] : m_subjects)
    if (each.of == nullptr && each.traffic_kind == kind) m_traffic.set_standard(*kind, each.settings);
}

void coalescing_source::offer(steer::snapshot& now, std::string name, subject added) {
  added.id = ++m_last_id;
  subject& entry = m_subjects[added.id] = added;
  steer::subject_info info{entry.id, std::move(name), {}, traffic_group};
  for (const setting_knob& one : knobs_of(entry.settings, entry.traffic_kind)) {
    entry.members.push_back(one.member);
    const auto own = static_cast<steer::knob_value>(entry.settings.*one.member);
    info.knobs.push_back({one.name, with(one.values, own), own, change_cost_s, steer::consent::safe, 0, {}});
  }
  const std::string key = m_key.empty() ? "" : m_key + info.name;
  const std::uint32_t recorded = tasks::recording::subject_of(info.name.c_str(), "", 0);
  m_registry.offer(now, {std::move(info), key, recorded,
                         [this, &entry](std::uint32_t knob, steer::knob_value to) { return turn(entry, knob, to); },
                         [&entry](steer::decision_number number) { entry.under = number; }});
}

void coalescing_source::offer_traffic(steer::snapshot& now, std::uint32_t kind) {
  if (std::exchange(m_is_traffic_offered[kind], true)) return;
  offer(now, name_of_traffic(kind), {.settings = m_standard, .traffic_kind = kind});
}

std::optional<std::uint32_t> coalescing_source::traffic_kind_since(const traffic_progress& done) const noexcept {
  for (std::uint32_t kind = 0; kind < traffic_kinds; ++kind)
    if (static_cast<double>(done.sent_of_kind[kind] - m_last.sent_of_kind[kind]) >
        least_kind_share * static_cast<double>(done.sent - m_last.sent))
      return kind;
  return std::nullopt;
}

// Actions get settings of their own whenever the program says so.
void coalescing_source::offer_actions(steer::snapshot& now) {
  const action_registry& registry = action_registry::of_process();
  m_is_offered.resize(registry.size() + 1);
  for (std::uint32_t number = 1; number <= registry.size() && m_subjects.size() < most_subjects; ++number) {
    action* const one = registry.find(number);
    if (m_is_offered[number] || one == nullptr || one->kind->is_internal) continue;
    if (!one->is_apart.load(std::memory_order_acquire)) continue;
    m_is_offered[number] = true;
    offer(now, "messages of " + one->name, {.settings = one->settings(), .of = one});
  }
}

void coalescing_source::withdraw_traffic(steer::snapshot& now) {
  std::erase_if(m_subjects, [&](const auto& entry) {
    if (entry.second.of != nullptr) return false;
    m_registry.withdraw(now, entry.first);
    return true;
  });
  m_is_traffic_offered.fill(true);
}

void coalescing_source::add_to(steer::snapshot& now) {
  const bool is_left_to_program = [this] {
    const std::lock_guard guard(m_turning);
    return m_is_left_to_program;
  }();
  if (is_left_to_program) withdraw_traffic(now);
  const traffic_progress done = progress_of(m_traffic, m_ns_per_tick);
  const double seconds = now.time_s - m_last_s;
  const std::uint64_t parcels = done.parcels - m_last.parcels;
  const bool is_first = m_last_s < 0;
  m_is_at_rest = is_first || !is_measurement(parcels, seconds);
  if (!m_is_at_rest) {
    const std::vector<steer::figure> figures = figures_between(m_last, done, seconds);
    const bool is_worth_it = has_something_to_gain(figures);
    const std::optional<std::uint32_t> kind = traffic_kind_since(done);
    const bool is_as_before = kind == m_kind_in_force;
    put_in_force(kind);
    if (is_worth_it && kind) offer_traffic(now, *kind);
    if (is_worth_it) offer_actions(now);
    m_is_at_rest = m_subjects.empty();
    const steer::measurement measured{0, seconds / static_cast<double>(parcels), seconds, 0};
    for (const auto& [id, each] : m_subjects) {
      if (each.of == nullptr && (each.traffic_kind != kind || !is_as_before)) continue;
      now.subjects.push_back({id, {measured}, figures});
      now.subjects.back().measured.front().under = each.under;
    }
  }
  m_last = done;
  m_last_s = now.time_s;
}

}  // namespace trimtab::parcels
