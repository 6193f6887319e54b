#include <algorithm>
#include <cstdio>
#include <mutex>

#include "steering/claimed_loops.hpp"
#include "steering/site_table.hpp"
#include "steering/watching.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::openmp {

using observe::schedule;
using observe::the_recorder;

constinit steering_switch is_steering;
constinit thread_local steered_thread t_steered{};
constinit std::array<std::atomic<watching>, region_places> watching_of_regions{};

namespace {

constexpr std::uint32_t most_sites = 512;
constexpr std::uint32_t most_trips = 8;  // of one region and schedule; all others are one site
constexpr std::uint64_t longest_trip = std::uint64_t{1} << 52;
constexpr double gathered_ns = 100'000;

base::spin_lock site_lock;
constinit site_table<loop_site, most_sites> sites;

std::uint64_t hash_of(const site_key& key) noexcept {
  const std::uint64_t at = reinterpret_cast<std::uintptr_t>(key.outlined);
  return base::mix(at ^ base::mix(key.trip ^ base::mix(key.chunk + static_cast<std::uint64_t>(key.written))));
}

auto has_key(const site_key& key) noexcept {
  return [&key](const loop_site& candidate) { return candidate.key == key; };
}
loop_site* find_site(const site_key& key) noexcept { return sites.find(hash_of(key), has_key(key)); }

bool is_alike(const site_key& first, const site_key& other) noexcept {
  return first.outlined == other.outlined && first.chunk == other.chunk && first.written == other.written;
}

const char* name_of(schedule written) noexcept {
  switch (written) {
    case schedule::dynamic:
      return "dynamic";
    case schedule::guided:
      return "guided";
    case schedule::runtime:
      return "runtime";
    case schedule::static_inferred:
      return "inlined";
    default:
      return "static";
  }
}

const std::vector<known_plan>* known_plans = nullptr;

// Not under our lock: it asks the loader.
const loop_plan* known_plan_of(const site_key& key) noexcept {
  char text[256];
  if (known_plans == nullptr || known_plans->empty() || !write_key(key, text, sizeof text)) return nullptr;
  for (const known_plan& each : *known_plans)
    if (each.key == text) return &each.plan;
  return nullptr;
}

// Under the lock. nullptr: no room for another.
loop_site* add_site(const site_key& key, const loop_plan* saved_plan) noexcept {
  if (!sites.has_room()) return nullptr;
  return sites.add(hash_of(key), has_key(key), [&](loop_site& added) {
    added.key = key;
    added.latest.store(saved_plan, std::memory_order_relaxed);
    watch(key.outlined, watching::always);
  });
}

}  // namespace

// The same for all members, whichever comes first: sites are only added, and what finds no room never will.
loop_site* site_of(const site_key& key) noexcept {
  if (loop_site* const site_entry = find_site(key)) return site_entry;
  site_key others = key;
  others.trip = any_trip;
  if (loop_site* const site_entry = find_site(others)) return site_entry;
  const loop_plan* const plan = known_plan_of(key);
  const loop_plan* const plan_of_others = known_plan_of(others);
  const std::lock_guard guard(site_lock);
  if (loop_site* const site_entry = find_site(key)) return site_entry;
  std::uint32_t trips = 0;
  for (std::uint32_t i = 0, n = sites.size(); i < n; ++i) trips += is_alike(sites.at(i).key, key);
  if (trips < most_trips) return add_site(key, plan);
  loop_site* const site_entry = find_site(others);
  return site_entry != nullptr ? site_entry : add_site(others, plan_of_others);
}

const loop_plan* plan_of(const loop_site& site, std::uint64_t epoch) noexcept {
  const loop_plan* plan = site.latest.load(std::memory_order_acquire);
  while (plan != nullptr && plan->since > epoch) plan = plan->before;
  return plan;
}

const loop_plan* unless_as_written(const loop_plan* plan) noexcept {
  return plan == nullptr || (plan->how == sharing::as_written && !plan->is_weighted && plan->chunk == 0) ? nullptr : plan;
}

std::uint32_t ask(const caller& from, symbol query_symbol) noexcept {
  auto* const forward = real<int()>(from, query_symbol);
  const int answer = forward == nullptr ? -1 : forward();
  return answer < 0 ? 0u : static_cast<std::uint32_t>(answer);
}

namespace {

// The outermost team that the calling thread is a member of; nullptr: none that could be steered.
const team* team_now() noexcept { return t_steered_part.is_in_team ? t_steered.of : nullptr; }

void leave_loop() noexcept {
  t_steered.site = nullptr;
  t_steered_part.has_loop = t_steered_part.has_shared_loop = false;
}

bool is_outermost(const caller& from, const team& own_team) noexcept {
  return own_team.of == from.of && ask(from, symbol::omp_get_level) == 1;
}

bool is_sharable(const loop_to_share& loop, std::uint32_t members) noexcept {
  return members > 1 && members <= loop_site::most_members && loop.trip >= 2 * std::uint64_t{members} &&
         loop.trip < longest_trip;
}

std::uint64_t least_chunk(const loop_plan& plan) noexcept { return plan.chunk == 0 ? 1 : plan.chunk; }

// A word has room for no longer loop than that; their members agree on it as on the rest.
const loop_plan* unless_as_written(const loop_plan* plan, const loop_to_share& loop) noexcept {
  const bool is_too_long = plan != nullptr && is_claimed(plan->how) && loop.trip >= longest_claimed_trip;
  return is_too_long ? nullptr : unless_as_written(plan);
}

void note_chain_begun(loop_site& site, std::uint32_t number, ticks now) noexcept {
  member_load* const loads = site.loads.load(std::memory_order_acquire);
  if (loads != nullptr && number < loop_site::most_members) loads[number].chain_begun.store(now, std::memory_order_relaxed);
}

void begin_serving(const team& own_team, loop_site& site, const loop_plan* plan, const loop_to_share& loop,
                   std::uint32_t members) noexcept {
  steered_thread& self = t_steered;
  self.site = &site;
  self.plan = unless_as_written(plan, loop);
  self.loop = loop;
  self.members = members;
  if (self.plan != nullptr) self.tickets = tickets_of(*plan, loop, members);
  if (self.plan != nullptr && is_claimed(plan->how)) begin_claims(self);
  t_steered_part.has_loop = t_steered_part.is_measuring = true;
  t_steered_part.has_shared_loop = self.plan != nullptr;
  self.begin = base::now();
  if (!self.chain.is_open_in(own_team)) note_chain_begun(site, self.number, self.begin);
  if (self.number != 0) return self.chain.enter(own_team);
  site.members.store(members, std::memory_order_relaxed);
  const std::uint64_t decision_number = plan == nullptr ? 0 : plan->under;
  region_has_loop(decision_number);
  self.chain.begin_loop(own_team, {&site, members, decision_number, loop.trip, self.plan == nullptr}, self.begin);
}

}  // namespace

ticket_chunks tickets_of(const loop_plan& plan, const loop_to_share& loop, std::uint32_t members) noexcept {
  if (!has_tickets(plan.how)) return {};
  return {plan.how, loop.trip, members, least_chunk(plan), plan.first_percent};
}

runtime_loop runtime_loop_of(const loop_plan& plan, const loop_to_share& loop, std::uint32_t members,
                             const ticket_chunks& tickets) noexcept {
  if (has_tickets(plan.how)) return {sharing::dynamic, 0, tickets.tickets(), 1, 1};
  if (is_claimed(plan.how)) return {sharing::dynamic, 0, members, 1, 1};
  runtime_loop request{plan.how, loop.first, loop.last, loop.increment, least_chunk(plan)};
  if (plan.how == sharing::static_) request.chunk = plan.chunk;
  if (plan.how == sharing::mfsc) request.chunk = mfsc_chunk(loop.trip, members, request.chunk);
  if (plan.how == sharing::mfsc || plan.how == sharing::as_written) request.by = sharing::dynamic;
  return request;
}

bool write_key(const site_key& key, char* buffer, std::size_t room) noexcept {
  char place[160], trip[24] = "any";
  if (!the_recorder.place_of(key.outlined, place, sizeof place)) return false;
  if (key.trip != any_trip) std::snprintf(trip, sizeof trip, "%llu", static_cast<unsigned long long>(key.trip));
  std::snprintf(buffer, room, "%s/%s,%llu/%s", place, name_of(key.written), static_cast<unsigned long long>(key.chunk),
                trip);
  return true;
}

bool prepare_sites(const std::vector<known_plan>* plans) noexcept {
  known_plans = plans;
  return sites.prepare();
}

void sites_after_fork() noexcept {
  is_steering.store(false, std::memory_order_relaxed);
  forget_watching();
  site_lock.reset();
}

std::uint32_t site_count() noexcept { return sites.size(); }
loop_site& site_at(std::uint32_t index) noexcept { return sites.at(index); }

void publish(loop_site& site, loop_plan& plan) noexcept {
  plan.since = steering_epoch.load(std::memory_order_relaxed) + 1;
  plan.before = site.latest.load(std::memory_order_relaxed);
  site.latest.store(&plan, std::memory_order_release);
  // A fork that sees the epoch sees the plan, and so do its members.
  steering_epoch.store(plan.since, std::memory_order_release);
}

void begin_part_of(const team& outermost, std::uint32_t number) noexcept {
  if (number == 0 && t_forked.site != nullptr) [[unlikely]]
    region_started(base::now());
  t_short_regions = {};
  t_steered.of = &outermost;
  t_steered.number = number;
  t_steered.claimed_loop = 0;
  t_steered.site = nullptr;
  t_steered.chain.drop();
}

void begin_unshared(const caller& from) noexcept {
  if (t_steered.site != nullptr && is_in_shared_loop(from)) leave_loop();
}

void team_joined(const team& joined) noexcept {
  if (!t_steered.chain.is_open_in(joined)) return;
  t_steered.chain.close(base::now());
  t_steered_part.is_measuring = false;
}

const loop_plan* begin_shared(const caller& from, const loop_to_share& loop) noexcept {
  begin_unshared(from);
  const team* const own_team = team_now();
  if (own_team == nullptr || from.is_internal || own_team->mode != region_mode::shared_out || !is_outermost(from, *own_team))
    return nullptr;
  const std::uint32_t members = ask(from, symbol::omp_get_num_threads);
  if (!is_sharable(loop, members)) return nullptr;
  loop_site* const site = site_of({own_team->outlined, loop.trip, loop.chunk, loop.written});
  if (site == nullptr) return nullptr;
  begin_serving(*own_team, *site, plan_of(*site, own_team->epoch), loop, members);
  return t_steered.plan;
}

const loop_plan* share_at_fork(const caller& from, team& opened, const loop_to_share& loop, std::uint32_t threads) noexcept {
  if (!is_steering.load(std::memory_order_relaxed) || opened.level != 1 || opened.mode != region_mode::shared_out ||
      ask(from, symbol::omp_get_level) != 0 || !is_sharable(loop, threads))
    return nullptr;
  loop_site* const site = site_of({opened.outlined, loop.trip, loop.chunk, loop.written});
  if (site == nullptr) return nullptr;
  opened.shared_site = site;
  opened.shared_loop = loop;
  opened.shared_plan = plan_of(*site, opened.epoch);
  opened.shared_members = threads;
  return unless_as_written(opened.shared_plan, loop);
}

void begin_shared_at_fork(const team& own_team) noexcept {
  if (own_team.shared_site == nullptr || team_now() != &own_team) return;
  begin_serving(own_team, *own_team.shared_site, own_team.shared_plan, own_team.shared_loop, own_team.shared_members);
}

// Not the runtime's own calls: LLVM's serves GCC's entry points by those of clang, which are hooked as well.
bool is_in_shared_loop(const caller& from) noexcept {
  const team* const own_team = team_now();
  return own_team != nullptr && !from.is_internal && is_outermost(from, *own_team);
}

void end_shared(const caller& from) noexcept {
  if (t_steered.site == nullptr || !is_in_shared_loop(from)) return;
  steered_thread& self = t_steered;
  loop_site& site = *self.site;
  leave_loop();
  const ticks now = base::now();
  if (self.number == 0) self.chain.end_loop(now);
  if (site.subject_1.load(std::memory_order_relaxed) == 0 && t_state != nullptr && t_state->loop.row != nullptr)
    site.subject_1.store(t_state->loop.subject + 1, std::memory_order_relaxed);
  add_load(site, self.number, self.plan, now - self.begin);
}

void add_load(loop_site& site, std::uint32_t number, const loop_plan* plan, ticks took) noexcept {
  member_load* const loads = site.loads.load(std::memory_order_acquire);
  if (loads == nullptr || number >= loop_site::most_members) return;
  member_load& load = loads[number];
  // No way to share a loop out gives it back, and one of it weighs as much as hundreds of short instances.
  if (const ticks longest = site.longest_part.load(std::memory_order_relaxed); longest != 0) took = std::min(took, longest);
  const bool is_current = load.under.load(std::memory_order_relaxed) == plan;
  load.ticks.store(is_current ? load.ticks.load(std::memory_order_relaxed) + took : took, std::memory_order_relaxed);
  load.instances.store(is_current ? load.instances.load(std::memory_order_relaxed) + 1 : 1, std::memory_order_relaxed);
  if (!is_current) load.under.store(plan, std::memory_order_release);
}

void barrier_passed(const caller& from) noexcept {
  if (!t_steered.chain.is_open()) return;
  steered_thread& self = t_steered;
  const ticks now = base::now();
  // Not a barrier of a team inside, nor one of another runtime's.
  if (!is_in_shared_loop(from) || !self.chain.is_open_in(*team_now())) return;
  self.number == 0 ? self.chain.close(now) : self.chain.drop();
  t_steered_part.is_measuring = false;
}

void add_time(loop_site& site, const site_measurement& sample) noexcept {
  // Teams of several host threads may be at it at the same time: then one instance is left out.
  if (site.is_being_written.exchange(true, std::memory_order_acquire)) return;
  site.measured.add(sample, the_recorder.ticks_of_ns(gathered_ns));
  site.is_being_written.store(false, std::memory_order_release);
}

}  // namespace trimtab::openmp
