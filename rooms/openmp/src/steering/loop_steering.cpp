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
  std::vector<std::uint64_t> ticks_now(loads.size()), instances(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].under.load(std::memory_order_acquire) != in_force) return {};
    instances[i] = loads[i].instances.load(std::memory_order_relaxed);
    ticks_now[i] = loads[i].ticks.load(std::memory_order_relaxed);
    // Begun anew under this plan since.
    if (instances[i] < instances_before[i] || ticks_now[i] < ticks_before[i]) instances_before[i] = ticks_before[i] = 0;
    const std::uint64_t passed = instances[i] - instances_before[i];
    if (passed < window) return {};
    result[i] = seconds_of(ticks_now[i] - ticks_before[i]) / static_cast<double>(passed);
  }
  ticks_before = std::move(ticks_now);
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

bool begin_steering(const std::vector<steer::setting>& settings) {
  auto* const plans = new std::vector<known_plan>;
  for (const steer::setting& saved : settings)
    if (auto plan = plan_of(saved); plan && is_changed_by(*plan)) plans->push_back({saved.key, std::move(*plan)});
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

loop_steering::loop_steering(steer::knob_registry& registry, std::vector<steer::setting> settings, bool learns, bool rests)
    : m_registry(registry), m_known(std::move(settings)), m_learns(learns), m_rests(rests) {}
loop_steering::~loop_steering() = default;

bool loop_steering::make_known(entry& fresh, steer::snapshot& now) {
  loop_site& site = *fresh.site;
  const std::uint32_t subject_1 = site.subject_1.load(std::memory_order_relaxed);
  if (subject_1 == 0) return false;
  char key[256];
  if (fresh.key.empty() && write_key(site.key, key, sizeof key)) fresh.key = key;
  const auto match =
      std::find_if(m_known.begin(), m_known.end(), [&](const auto& candidate) { return candidate.key == fresh.key; });
  if (fresh.key.empty() || (match == m_known.end() && fresh.measured.size() < measured_before)) return false;
  fresh.id = subject_1 - 1;
  const bool is_used = std::any_of(m_entries.begin(), m_entries.end(), [&](const auto& candidate) {
    return candidate && candidate->is_known && candidate->id == fresh.id;
  });
  if (is_used) fresh.id = the_recorder.named_subject(observe::subject_kind::loop, ("loop " + fresh.key).c_str(), "", 0);
  if (fresh.id == no_subject) {
    fresh.is_ignored = true;
    return false;
  }
  steer::subject_info info{fresh.id, fresh.key,
                           knobs_of(site.key, site.members.load(std::memory_order_relaxed), fresh.iteration_s),
                           group_of_site(site)};
  for (const steer::knob& program_knob : info.knobs) fresh.own.push_back(program_knob.initial);
  fresh.values = fresh.own;
  if (match != m_known.end())
    for (const auto& saved_value : match->values)
      if (saved_value.knob == "partition.costs")
        if (auto costs = cost_profile::from_text(saved_value.text)) {
          fresh.costs = std::move(*costs);
          fresh.refined = 1;
        }
  entry* const self = &fresh;
  const auto apply = [self](std::uint32_t knob, knob_value to) {
    const std::lock_guard guard(self->lock);
    self->values.at(knob) = to;
    return true;
  };
  const auto confirm = [self](steer::decision_number number) {
    const std::lock_guard guard(self->lock);
    self->under = number;
    self->publish_values();
  };
  m_registry.offer(now, {std::move(info), fresh.key, 0, apply, confirm});
  return true;
}

void loop_steering::measure(entry& subject_entry, steer::subject_state& state) {
  site_measurement measured{};
  while (subject_entry.site->measured.take(measured)) {
    if (measured.iterations == 0) continue;
    // As it is when it stays as written, which is mostly unwatched: what is kept instead must win that, too.
    const double took_s = seconds_of(measured.took);
    const double watched_s = measured.unwatched == 0 ? 0 : watching_s * static_cast<double>(measured.instances);
    const double seconds = std::max(took_s - watched_s, took_s / 2);
    subject_entry.iteration_s = seconds / static_cast<double>(measured.iterations);
    subject_entry.instance_s = seconds / static_cast<double>(measured.instances);
    const auto slow_to_rise = [&](double before) {
      return before > 0 ? std::min(subject_entry.instance_s, before * slow_rise) : subject_entry.instance_s;
    };
    subject_entry.short_s = slow_to_rise(subject_entry.short_s);
    if (subject_entry.is_as_written(measured.under)) subject_entry.own_s = slow_to_rise(subject_entry.own_s);
    if (subject_entry.site->key.trip != any_trip)
      subject_entry.site->longest_part.store(
          static_cast<ticks>(the_recorder.ticks_of_ns(longest_parts * subject_entry.short_s * 1e9)),
          std::memory_order_relaxed);
    subject_entry.lately += static_cast<double>(measured.instances);
    if (measured.under != under_what_was_known && (subject_entry.is_known || subject_entry.measured.size() < most_before))
      subject_entry.measured.push_back({measured.under, subject_entry.iteration_s, took_s + seconds_of(measured.unwatched),
                                        measured.beside == under_known_size ? 0 : measured.beside});
  }
  if (!subject_entry.is_known) return;
  state.measured = std::move(subject_entry.measured);
  subject_entry.measured.clear();
}

// From what each member took since the last time: how even it is, and for weighted loops what the parts cost.
void loop_steering::learn(entry& subject_entry, steer::subject_state& state, double now_s) {
  loop_site& site = *subject_entry.site;
  member_load* const loads = site.loads.load(std::memory_order_relaxed);
  const std::uint32_t members = std::min(site.members.load(std::memory_order_relaxed), loop_site::most_members);
  if (loads == nullptr || members < 2 || (m_rests && subject_entry.region_s == 0)) return;
  const std::lock_guard guard(subject_entry.lock);
  if (subject_entry.in_force != nullptr && now_s < subject_entry.next_learning_s) return;
  const std::uint64_t window = learning_window(subject_entry.in_force == nullptr ? 0 : subject_entry.refined);
  const std::vector<double> seconds = subject_entry.seconds_of_members({loads, members}, window);
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all > 0)) return;
  const double longest = *std::max_element(seconds.begin(), seconds.end()), mean = all / members;
  const double imbalance = longest - mean < subject_entry.least_unevenness_s(m_rests) ? 1 : longest / mean;
  state.figures.push_back({std::string(steer::figures::imbalance), imbalance});
  if (family_of(site.key) != family::blocks || !m_learns) return;
  const bool is_weighted = subject_entry.in_force != nullptr;
  if (!is_weighted && subject_entry.refined > 0) return;  // what is known is better than what even blocks tell
  if (is_weighted && !is_uneven(imbalance, window)) return;
  if (!is_weighted) subject_entry.costs = cost_profile();
  subject_entry.costs.learn(seconds, subject_entry.refined < quick_refinements ? 1.0 : 0.5);
  if (!is_weighted) return;
  subject_entry.refined += 1;
  if (subject_entry.refined > quick_refinements)
    subject_entry.next_learning_s =
        now_s + std::min(first_pause_s * std::exp2(subject_entry.refined - quick_refinements), longest_pause_s);
  subject_entry.publish_values();
}

// For good, and not for a trial.
bool loop_steering::is_changed(const entry& subject_entry) const {
  const loop_plan* const latest = unless_as_written(subject_entry.site->latest.load(std::memory_order_relaxed));
  if (latest != nullptr && latest->under == under_what_was_known) return true;
  return subject_entry.is_known && m_registry.knobs().accepted(subject_entry.id) != subject_entry.own;
}

// Regions whose loops are short in the mean as they were written, and stay so, are watched now and then, also while another
// way is tried: the instances between run as they were written.
void loop_steering::watch_regions() {
  struct region {
    bool may_rest = true;
    double instances = 0, seconds = 0;
  };
  std::map<std::size_t, region> regions;
  for (const auto& candidate : m_entries) {
    const entry& subject_entry = *candidate;
    region& its_region = regions[region_place_of(subject_entry.site->key.outlined)];
    its_region.may_rest &= !is_changed(subject_entry) && (subject_entry.is_ignored || subject_entry.own_s > 0);
    if (subject_entry.is_ignored) continue;
    its_region.instances += subject_entry.lately;
    its_region.seconds += subject_entry.lately * subject_entry.own_s;
  }
  for (const auto& candidate : m_entries) {
    entry& subject_entry = *candidate;
    const region& its_region = regions[region_place_of(subject_entry.site->key.outlined)];
    if (subject_entry.lately > 0) {
      subject_entry.share = subject_entry.lately / its_region.instances;
      subject_entry.region_s = its_region.seconds / its_region.instances;
    }
    subject_entry.lately *= of_before;
  }
  for (const auto& [place, its] : regions) {
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
  for (const auto& candidate : m_entries) {
    entry& subject_entry = *candidate;
    if (subject_entry.is_ignored) continue;
    steer::subject_state state;
    measure(subject_entry, state);
    if (!subject_entry.is_known) {
      subject_entry.is_known = make_known(subject_entry, now);
      if (!subject_entry.is_known) continue;
      state.measured = std::move(subject_entry.measured);
      subject_entry.measured.clear();
    }
    state.id = subject_entry.id;
    learn(subject_entry, state, now.time_s);
    if (state.measured.empty() && state.figures.empty()) continue;
    state.figures.push_back({std::string(steer::figures::instance_seconds), subject_entry.instance_s});
    if (family_of(subject_entry.site->key) == family::dynamic && subject_entry.site->key.written == schedule::dynamic &&
        subject_entry.iteration_s > 0) {
      const double iterations = subject_entry.instance_s / subject_entry.iteration_s;
      const double chunks = iterations / static_cast<double>(std::max<std::uint64_t>(subject_entry.site->key.chunk, 1));
      state.figures.push_back({std::string(steer::figures::overhead_seconds), chunks * handing_out_s});
    }
    now.subjects.push_back(std::move(state));
  }
  if (m_rests) watch_regions();
}

void loop_steering::write_costs(const entry& subject_entry) const {
  if (!subject_entry.is_known || family_of(subject_entry.site->key) != family::blocks) return;
  const std::lock_guard guard(subject_entry.lock);
  the_recorder.fact(("partition.costs " + subject_entry.key).c_str(), subject_entry.costs.text().c_str());
}

void loop_steering::decided(const steer::decision& decision_made) {
  if (decision_made.what != steer::outcome::kept && decision_made.what != steer::outcome::set) return;
  for (const auto& offered : m_entries)
    if (offered->id == decision_made.subject) write_costs(*offered);
}

void loop_steering::conclude() {
  for (const auto& offered : m_entries) write_costs(*offered);
}

}  // namespace trimtab::openmp
