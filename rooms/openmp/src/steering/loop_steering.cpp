#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "steering/loop_knobs.hpp"
#include "steering/virtual_threads.hpp"
#include "steering/watching.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/openmp/steering.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::openmp {

using observe::schedule;
using observe::the_recorder;
using steer::knob_value;

namespace {

constexpr std::uint32_t measured_before = 3;  // measurements of what the program does, before a loop is a subject
constexpr std::size_t most_before = 16;
constexpr double handing_out_s = 0.15e-6;  // one chunk: members take them from one counter, one after the other
constexpr double timing_s = 0.2e-6;        // that much of an instance may be how its members were timed
constexpr double watching_s = 0.5e-6;      // what an instance takes longer while its loops are watched
constexpr double worth_watching = 2;       // times as much is to be won
// Each time that weights are learnt leaves a plan behind for good: soon they are learnt more and more rarely.
constexpr std::uint32_t quick_refinements = 6;
constexpr double first_pause_s = 0.05, longest_pause_s = 10;
constexpr double short_below_s = 200e-6;  // what watching takes is less than a hundredth of such an instance
constexpr double slow_rise = 1.25;        // from one measurement to the next
constexpr double longest_parts = 16;      // times an instance
constexpr double of_before = 0.75;        // what instances still weigh at the next look

double seconds_of(std::uint64_t took) noexcept {
  return static_cast<double>(took) * the_recorder.clock().ns_per_tick * 1e-9;
}

bool is_changed_by(const loop_plan& plan) noexcept {
  return plan.how != sharing::as_written || plan.is_weighted || plan.chunk != 0;
}

// Loops that are measured together are tried one at a time, as are those of a region whose size is tried.
std::uint64_t group_of_site(const loop_site& site) noexcept {
  return site.has_company.load(std::memory_order_relaxed) ? reinterpret_cast<std::uintptr_t>(site.key.outlined)
                                                          : group_of(site.key.outlined);
}

}  // namespace

struct loop_steering::entry {
  loop_site* site = nullptr;
  bool is_known = false;
  bool is_ignored = false;
  steer::subject_id id = 0;
  std::string key;
  double iteration_s = 0;
  double instance_s = 0;
  double short_s = 0;  // the same, but slow to rise: what lost its CPU for once is no longer loop for that
  double own_s = 0;    // likewise, of instances as the program has them
  double lately = 0;   // instances that were measured, those of long ago weigh less
  std::vector<steer::measurement> measured;

  mutable std::mutex lock;  // what follows: the board may be brought back by another thread
  std::vector<knob_value> values;
  std::uint64_t under = 0;
  const loop_plan* in_force = nullptr;
  cost_profile costs;
  std::uint32_t refined = 0;  // times that the costs were learnt
  double next_learning_s = 0;

  std::vector<knob_value> own;  // the program's
  double share = 1;             // of the instances of its region
  double region_s = 0;          // that these take in the mean; 0: not looked at yet

  // Members' times that differ by less are even. Where it is changed for good, all instances of its region are watched,
  // whatever their sizes.
  double least_unevenness_s(bool may_rest) const noexcept {
    if (!may_rest || region_s > short_below_s) return timing_s;
    return std::max(timing_s, worth_watching * watching_s / share);
  }

  std::vector<std::uint64_t> ticks_before, instances_before;
  const loop_plan* loads_of = nullptr;

  std::vector<double> seconds_of_members(std::span<const member_load> loads, std::uint64_t window);
  void begin_loads(std::span<const member_load> loads);

  // Whether what was measured under this decision ran as the program has it; false as well if another is in force by now.
  bool is_as_written(std::uint64_t decision) {
    const std::lock_guard guard(lock);
    return decision != under_what_was_known && decision == under && values == own;
  }

  void publish_values() {
    auto* const plan = new loop_plan(plan_of(family_of(site->key), values, costs, under));
    in_force = is_changed_by(*plan) ? plan : nullptr;
    publish(*site, *plan);
  }
};

// The seconds that each member takes for an instance, in the mean of those since the last time. Empty: not all members have
// had `window` instances under the plan in force.
std::vector<double> loop_steering::entry::seconds_of_members(std::span<const member_load> loads, std::uint64_t window) {
  if (loads_of != in_force || ticks_before.size() != loads.size()) begin_loads(loads);
  std::vector<double> result(loads.size());
  std::vector<std::uint64_t> taken(loads.size()), instances(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].under.load(std::memory_order_acquire) != in_force) return {};
    instances[i] = loads[i].instances.load(std::memory_order_relaxed);
    taken[i] = loads[i].ticks.load(std::memory_order_relaxed);
    // Begun anew under this plan since.
    if (instances[i] < instances_before[i] || taken[i] < ticks_before[i]) instances_before[i] = ticks_before[i] = 0;
    const std::uint64_t passed = instances[i] - instances_before[i];
    if (passed < window) return {};
    result[i] = seconds_of(taken[i] - ticks_before[i]) / static_cast<double>(passed);
  }
  ticks_before = std::move(taken);
  instances_before = std::move(instances);
  return result;
}

void loop_steering::entry::begin_loads(std::span<const member_load> loads) {
  loads_of = in_force;
  ticks_before.assign(loads.size(), 0);
  instances_before.assign(loads.size(), 0);
  if (in_force != nullptr) return;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    ticks_before[i] = loads[i].ticks.load(std::memory_order_relaxed);
    instances_before[i] = loads[i].instances.load(std::memory_order_relaxed);
  }
}

bool begin_steering(const std::vector<steer::setting>& known) {
  auto* const plans = new std::vector<known_plan>;
  for (const steer::setting& each : known)
    if (auto plan = plan_of(each); plan && is_changed_by(*plan)) plans->push_back({each.key, std::move(*plan)});
  if (!prepare_sites(plans)) return false;
  is_steering.store(true, std::memory_order_release);
  return true;
}

void end_steering() noexcept {
  sites_after_fork();
  regions_after_fork();
  virtual_threads_after_fork();
  time_waits(false);
}

loop_steering::loop_steering(steer::knob_registry& registry, std::vector<steer::setting> known, bool learns, bool rests)
    : m_registry(registry), m_known(std::move(known)), m_learns(learns), m_rests(rests) {}
loop_steering::~loop_steering() = default;

bool loop_steering::make_known(entry& fresh, steer::snapshot& now) {
  loop_site& site = *fresh.site;
  const std::uint32_t subject_1 = site.subject_1.load(std::memory_order_relaxed);
  if (subject_1 == 0) return false;
  char key[256];
  if (fresh.key.empty() && write_key(site.key, key, sizeof key)) fresh.key = key;
  const auto known = std::find_if(m_known.begin(), m_known.end(), [&](const auto& each) { return each.key == fresh.key; });
  if (fresh.key.empty() || (known == m_known.end() && fresh.measured.size() < measured_before)) return false;
  fresh.id = subject_1 - 1;
  const bool is_taken = std::any_of(m_entries.begin(), m_entries.end(),
                                    [&](const auto& each) { return each && each->is_known && each->id == fresh.id; });
  if (is_taken) fresh.id = the_recorder.named_subject(observe::subject_kind::loop, ("loop " + fresh.key).c_str(), "", 0);
  if (fresh.id == no_subject) {
    fresh.is_ignored = true;
    return false;
  }
  steer::subject_info info{fresh.id, fresh.key,
                           knobs_of(site.key, site.members.load(std::memory_order_relaxed), fresh.iteration_s),
                           group_of_site(site)};
  for (const steer::knob& each : info.knobs) fresh.own.push_back(each.initial);
  fresh.values = fresh.own;
  if (known != m_known.end())
    for (const auto& its : known->values)
      if (its.knob == "partition.costs")
        if (auto costs = cost_profile::from_text(its.text)) {
          fresh.costs = std::move(*costs);
          fresh.refined = 1;
        }
  entry* const mine = &fresh;
  const auto apply = [mine](std::uint32_t knob, knob_value to) {
    const std::lock_guard guard(mine->lock);
    mine->values.at(knob) = to;
    return true;
  };
  const auto confirm = [mine](steer::decision_number number) {
    const std::lock_guard guard(mine->lock);
    mine->under = number;
    mine->publish_values();
  };
  m_registry.offer(now, {std::move(info), fresh.key, 0, apply, confirm});
  return true;
}

void loop_steering::measure(entry& of, steer::subject_state& state) {
  site_measurement taken{};
  while (of.site->measured.take(taken)) {
    if (taken.iterations == 0) continue;
    // As it is when it stays as written, which is mostly unwatched: what is kept instead must win that, too.
    const double took_s = seconds_of(taken.took);
    const double watched_s = taken.unwatched == 0 ? 0 : watching_s * static_cast<double>(taken.instances);
    const double seconds = std::max(took_s - watched_s, took_s / 2);
    of.iteration_s = seconds / static_cast<double>(taken.iterations);
    of.instance_s = seconds / static_cast<double>(taken.instances);
    const auto slow_to_rise = [&](double before) {
      return before > 0 ? std::min(of.instance_s, before * slow_rise) : of.instance_s;
    };
    of.short_s = slow_to_rise(of.short_s);
    if (of.is_as_written(taken.under)) of.own_s = slow_to_rise(of.own_s);
    if (of.site->key.trip != any_trip)
      of.site->longest_part.store(static_cast<ticks>(the_recorder.ticks_of_ns(longest_parts * of.short_s * 1e9)),
                                  std::memory_order_relaxed);
    of.lately += static_cast<double>(taken.instances);
    if (taken.under != under_what_was_known && (of.is_known || of.measured.size() < most_before))
      of.measured.push_back({taken.under, of.iteration_s, took_s + seconds_of(taken.unwatched),
                             taken.beside == under_known_size ? 0 : taken.beside});
  }
  if (!of.is_known) return;
  state.measured = std::move(of.measured);
  of.measured.clear();
}

// From what each member took since the last time: how even it is, and for weighted loops what the parts cost.
void loop_steering::learn(entry& of, steer::subject_state& state, double now_s) {
  loop_site& site = *of.site;
  member_load* const loads = site.loads.load(std::memory_order_relaxed);
  const std::uint32_t members = std::min(site.members.load(std::memory_order_relaxed), loop_site::most_members);
  if (loads == nullptr || members < 2 || (m_rests && of.region_s == 0)) return;
  const std::lock_guard guard(of.lock);
  if (of.in_force != nullptr && now_s < of.next_learning_s) return;
  const std::uint64_t window = learning_window(of.in_force == nullptr ? 0 : of.refined);
  const std::vector<double> seconds = of.seconds_of_members({loads, members}, window);
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all > 0)) return;
  const double most = *std::max_element(seconds.begin(), seconds.end()), mean = all / members;
  const double imbalance = most - mean < of.least_unevenness_s(m_rests) ? 1 : most / mean;
  state.figures.push_back({std::string(steer::figures::imbalance), imbalance});
  if (family_of(site.key) != family::blocks || !m_learns) return;
  const bool is_weighted = of.in_force != nullptr;
  if (!is_weighted && of.refined > 0) return;  // what is known is better than what even blocks tell
  if (is_weighted && !is_uneven(imbalance, window)) return;
  if (!is_weighted) of.costs = cost_profile();
  of.costs.learn(seconds, of.refined < quick_refinements ? 1.0 : 0.5);
  if (!is_weighted) return;
  of.refined += 1;
  if (of.refined > quick_refinements)
    of.next_learning_s = now_s + std::min(first_pause_s * std::exp2(of.refined - quick_refinements), longest_pause_s);
  of.publish_values();
}

// For good, and not for a trial.
bool loop_steering::is_changed(const entry& its) const {
  const loop_plan* const latest = unless_as_written(its.site->latest.load(std::memory_order_relaxed));
  if (latest != nullptr && latest->under == under_what_was_known) return true;
  return its.is_known && m_registry.knobs().accepted(its.id) != its.own;
}

// Regions whose loops are short in the mean as they were written, and stay so, are watched now and then, also while another
// way is tried: the instances between run as they were written.
void loop_steering::watch_regions() {
  struct region {
    bool may_rest = true;
    double instances = 0, seconds = 0;
  };
  std::map<std::size_t, region> found;
  for (const auto& each : m_entries) {
    const entry& its = *each;
    region& its_region = found[region_place_of(its.site->key.outlined)];
    its_region.may_rest &= !is_changed(its) && (its.is_ignored || its.own_s > 0);
    if (its.is_ignored) continue;
    its_region.instances += its.lately;
    its_region.seconds += its.lately * its.own_s;
  }
  for (const auto& each : m_entries) {
    entry& its = *each;
    const region& its_region = found[region_place_of(its.site->key.outlined)];
    if (its.lately > 0) {
      its.share = its.lately / its_region.instances;
      its.region_s = its_region.seconds / its_region.instances;
    }
    its.lately *= of_before;
  }
  for (const auto& [place, its] : found) {
    const bool may_rest = its.may_rest && its.seconds <= its.instances * short_below_s;
    watching_of_regions[place].store(may_rest ? watching::rarely : watching::always, std::memory_order_relaxed);
  }
}

void loop_steering::add_to(steer::snapshot& now) {
  for (std::uint32_t i = static_cast<std::uint32_t>(m_entries.size()), n = site_count(); i < n; ++i) {
    m_entries.push_back(std::make_unique<entry>());
    m_entries.back()->site = &site_at(i);
    m_entries.back()->site->loads.store(new member_load[loop_site::most_members](), std::memory_order_release);
  }
  for (const auto& each : m_entries) {
    entry& its = *each;
    if (its.is_ignored) continue;
    steer::subject_state state;
    measure(its, state);
    if (!its.is_known) {
      its.is_known = make_known(its, now);
      if (!its.is_known) continue;
      state.measured = std::move(its.measured);
      its.measured.clear();
    }
    state.id = its.id;
    learn(its, state, now.time_s);
    if (state.measured.empty() && state.figures.empty()) continue;
    state.figures.push_back({std::string(steer::figures::instance_seconds), its.instance_s});
    if (family_of(its.site->key) == family::dynamic && its.site->key.written == schedule::dynamic && its.iteration_s > 0) {
      const double iterations = its.instance_s / its.iteration_s;
      const double chunks = iterations / static_cast<double>(std::max<std::uint64_t>(its.site->key.chunk, 1));
      state.figures.push_back({std::string(steer::figures::overhead_seconds), chunks * handing_out_s});
    }
    now.subjects.push_back(std::move(state));
  }
  if (m_rests) watch_regions();
}

void loop_steering::write_costs(const entry& its) const {
  if (!its.is_known || family_of(its.site->key) != family::blocks) return;
  const std::lock_guard guard(its.lock);
  the_recorder.fact(("partition.costs " + its.key).c_str(), its.costs.text().c_str());
}

void loop_steering::decided(const steer::decision& made) {
  if (made.what != steer::outcome::kept && made.what != steer::outcome::set) return;
  for (const auto& offered : m_entries)
    if (offered->id == made.subject) write_costs(*offered);
}

void loop_steering::conclude() {
  for (const auto& offered : m_entries) write_costs(*offered);
}

}  // namespace trimtab::openmp
