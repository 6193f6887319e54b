#include "accounting/team.hpp"

#include <utility>

#include "accounting/identified_tasks.hpp"
#include "accounting/short_regions.hpp"
#include "accounting/steering_ports.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::the_recorder;
namespace region_fields = observe::region_fields;
namespace team_fields = observe::team_fields;

namespace {

// Regions shorter than this are accounted later: a program that is killed loses no more than one of them a lane.
constexpr double put_off_below_ns = 20'000;
ticks put_off_below = 0;

// The row of the region's part on that lane.
profile_row* member_row(lane& forker, known_region& region, std::uint32_t member_lane, std::uint16_t flags) noexcept {
  const std::uint32_t i = member_lane % known_region::max_members;
  if (region.members[i] != member_lane + 1) [[unlikely]] {
    region.members[i] = member_lane + 1;
    region.member_rows[i] = region.member_sample_rows[i] = nullptr;
  }
  profile_row*& row = flags == 0 ? region.member_rows[i] : region.member_sample_rows[i];
  if (row == nullptr) [[unlikely]]
    row = forker.row(region.subject, metric::team, member_lane, region.outer_region, flags);
  return row;
}

// What member `number` left. Teams are filled from number 0: the first that left nothing ends the team.
const member_slot* part_of(lane_state& state, const joined_team& joined, std::uint32_t number) noexcept {
  if (joined.slots != nullptr) {
    const member_slot& slot = joined.slots[number];
    return slot.instance == joined.instance ? &slot : nullptr;
  }
  std::uint8_t& turn = state.ring_turns[number];
  for (std::uint32_t i = 0; i < part_ring::size; ++i) {
    member_slot& slot = state.rings[number].parts[turn];
    turn = (turn + 1) % part_ring::size;
    // Where no member of that number was, one of the region now under way may just be writing: then `end` is an old one.
    const ticks begin = std::atomic_ref(slot.begin).load(std::memory_order_relaxed);
    const ticks end = std::atomic_ref(slot.end).load(std::memory_order_relaxed);
    if (begin >= joined.forked_at && begin <= end && end <= joined.end) return &slot;
  }
  return nullptr;
}

struct team_times {
  std::uint32_t threads;
  ticks first_end, last_end;
  ticks most_work, all_work;  // of one member, of all
};

// What the steering side wants to know of an outermost team.
inline void report_team(lane_state& forker, const joined_team& joined, const team_times& times) noexcept {
  if (const team_port* const port = team_port_now(); port != nullptr && times.threads > 1) [[unlikely]]
    port->note_skew(times.last_end - times.first_end);
  if (const region_port* const port = region_port_now(); port != nullptr) [[unlikely]]
    port->note_longest_part(joined.outlined, joined.end - joined.forked_at, times.most_work, times.threads);
  if (const wait_port* const port = wait_port_now(); port != nullptr && times.threads > 1) [[unlikely]]
    port->note_passage(forker, joined.forked_at, joined.end, times.threads, times.all_work);
}

// Writes the rows of all members. Returns the forker's work.
ticks account(lane_state& state, const joined_team& joined) noexcept {
  lane& forker = *state.owner;
  known_region* region = state.regions.find(joined.outlined, [&](const known_region& candidate) {
    return candidate.outlined == joined.outlined && candidate.subject == joined.subject &&
           candidate.outer_region == joined.outer_region;
  });
  known_region revived;
  // Another region has taken its place in the table, or its code was unloaded.
  if (region == nullptr) {
    revived = {};
    revived.rule = &rule_at(joined.outlined);
    revived.subject = joined.subject;
    revived.outer_region = joined.outer_region;
    region = &revived;
  }
  ticks most_work = 0, all_work = 0, forkers_work = 0;
  ticks first_end = ~ticks{0}, last_end = 0;
  std::uint32_t threads = 0;
  bool has_constructs = false;
  for (std::uint32_t i = 0; i < joined.slot_count; ++i) {
    const member_slot* const part = part_of(state, joined, i);
    if (part == nullptr) break;
    const member_slot& slot = *part;
    const ticks part_time = slot.end - slot.begin;
    const ticks idle = slot.idle < part_time ? slot.idle : part_time;
    const ticks work = part_time - idle + slot.late_work;
    const ticks after = joined.end > slot.end ? joined.end - slot.end : 0;
    threads += 1;
    if (slot.end < first_end) first_end = slot.end;
    if (slot.end > last_end) last_end = slot.end;
    all_work += work;
    if (work > most_work) most_work = work;
    if (i == 0) forkers_work = work;
    has_constructs |= slot.has_constructs;
    profile_row* const row = member_row(forker, *region, slot.lane, joined.rows);
    if (row == nullptr) continue;
    lane::add(row, work);
    row->x[team_fields::join_wait] += after > slot.late_work ? after - slot.late_work : 0;
    row->x[team_fields::arrival] += slot.begin > joined.forked_at ? slot.begin - joined.forked_at : 0;
    row->x[team_fields::inner_wait] += idle;
  }
  if (joined.outer_region == no_subject) report_team(state, joined, {threads, first_end, last_end, most_work, all_work});
  const ticks mean_work = threads < 2 ? all_work : threads == 2 ? all_work / 2 : all_work / threads;  // a division is slow
  profile_row*& row = joined.rows == 0 ? region->row : region->sample_row;
  if (row == nullptr) [[unlikely]]
    row = forker.own_row(joined.subject, metric::region, joined.outer_region, joined.rows);
  if (row != nullptr) {
    lane::add(row, joined.end - joined.forked_at);
    row->x[region_fields::threads] += threads;
    if (threads > row->x[region_fields::most_threads]) row->x[region_fields::most_threads] = threads;
    row->x[region_fields::slowest_work] += most_work;
    row->x[region_fields::mean_work] += mean_work;
  }
  learn_length(state, *region, joined.end - joined.forked_at, mean_work, threads, has_constructs);
  // Unless the ring has come round.
  observe::event& end = *joined.end_event;
  if (end.kind == static_cast<std::uint16_t>(event_kind::region_end) && end.a == joined.instance) end.b = threads;
  return forkers_work;
}

void begin_forked_loop(const team& own_team) noexcept {
  if (const loop_port* const port = loop_port_now()) port->begin_forked_loop(own_team);
}

}  // namespace

void prepare_accounting() noexcept {
  put_off_below = static_cast<ticks>(the_recorder.ticks_of_ns(put_off_below_ns));
  prepare_short_regions();
}

void begin_region(const lane_context& context, team& opened, const caller& from, const void* outlined,
                  const known_region& region, std::uint32_t level) noexcept {
  lane_state& state = *context.state;
  state.requested_threads = 0;
  opened.outer_ended = state.ended;
  state.ended = {};
  const std::uint64_t instance = new_instance(state);
  const ticks forked_at = base::now();
  // Before the stores to what members share: a locked instruction waits for all stores that stand before it.
  if (level == 1) the_recorder.parallel_enter(forked_at);
  context.on->record(event_kind::region_begin, region.subject, static_cast<std::uint16_t>(level), instance,
                     state.innermost == nullptr ? 0 : state.innermost->instance, forked_at);
  opened.outlined = outlined;
  opened.of = from.of;
  opened.instance = instance;
  opened.subject = region.subject;
  opened.level = static_cast<std::uint16_t>(level);
  const std::uint32_t period = region.rule->load(std::memory_order_relaxed).loops_watched_one_in;
  opened.mode = is_drawn(instance, period) ? region_mode::shared_out : region_mode::timed;
  opened.further_ones = static_cast<std::uint8_t>(period > 1 ? period - 1 : 0);
  opened.is_gcc = false;
  opened.has_loop = false;
  opened.is_sample = false;
  opened.forker_state = &state;
  opened.forker = context.on;
  opened.forked_at = forked_at;
  opened.outer_region = region.outer_region;
  opened.epoch = steering_epoch.load(std::memory_order_acquire);
  opened.shared_site = nullptr;
  opened.claimed.store(0, std::memory_order_relaxed);
}

void end_region(team& joined, const member_slot* slots) noexcept {
  lane& forker = *joined.forker;
  lane_state& state = *joined.forker_state;
  state.ended = joined.outer_ended;
  steered_team_joined(joined);
  // A child of a fork inside the region: its recorder is another, and the parent joins for the parent.
  if (observe::t_lane != &forker) return;
  const ticks end = base::now();
  const ticks wall = end - joined.forked_at;
  if (joined.level == 1) {
    the_recorder.parallel_leave(end);
    if (const region_port* const port = region_port_now(); port != nullptr) [[unlikely]]
      port->region_ended(joined.outlined, joined.subject, wall);
  }
  forker.record(event_kind::region_end, joined.subject, static_cast<std::uint16_t>(joined.level), joined.instance, 0, end);
  forker.count_hook(2);
  account_joined(state);
  // Filled in place: copying what was just stored piece by piece would wait for the stores.
  joined_team& ended = state.unaccounted;
  ended.instance = joined.instance;
  ended.outlined = joined.outlined;
  ended.subject = joined.subject;
  ended.slots = slots;
  ended.slot_count = joined.slot_count;
  ended.outer_region = joined.outer_region;
  ended.rows = joined.is_sample ? sample : 0;
  ended.forked_at = joined.forked_at;
  ended.end = end;
  ended.end_event = forker.last_event();
  if (slots == nullptr && wall < put_off_below) return;
  const ticks forkers_work = account(state, ended);
  ended.instance = 0;
  if (joined.level != 1) state.idle += wall > forkers_work ? wall - forkers_work : 0;
}

bool fork_team(team& opened, const caller& from, const void* outlined, std::uint32_t limit, const char* source) noexcept {
  lane_context context;
  if (!lookup(context)) return false;
  lane_state& state = *context.state;
  const std::uint32_t outer_region = region_of_construct(state);
  const known_region* const region = region_at(state, from.of, outlined, outer_region, source);
  if (region == nullptr) return false;
  const std::uint32_t outer_level = state.innermost != nullptr ? state.innermost->level : outer_region != no_subject;
  begin_region(context, opened, from, outlined, *region, outer_level + 1);
  const std::uint32_t room = lane_state::max_slots - state.slots_used;
  opened.slots = state.slots + state.slots_used;
  opened.slot_count = limit < room ? limit : room;
  std::atomic_ref(state.slots_used).store(state.slots_used + opened.slot_count, std::memory_order_relaxed);
  return true;
}

void join_team(team& joined) noexcept {
  lane_state& state = *joined.forker_state;
  // Also frees the slots of inner teams that never joined.
  std::atomic_ref(state.slots_used).store(static_cast<std::uint32_t>(joined.slots - state.slots), std::memory_order_relaxed);
  end_region(joined, joined.slots);
}

void enter(member& self, const lane_context& context, team& own_team, runtime* library, std::uint32_t region,
           std::uint32_t number) noexcept {
  lane_state& state = *context.state;
  self.on = context.on;
  self.state = &state;
  self.outer_team = state.innermost;
  self.outer_region = state.region;
  self.outer_number = state.number;
  self.outer_idle = state.idle;
  self.outer_loop.row = state.loop.row;
  if (state.loop.row != nullptr) [[unlikely]]
    self.outer_loop = state.loop;
  self.outer_task = state.sampling.now;
  state.sampling.now = {};
  if (the_recorder.traces()) self.outer_scope = std::exchange(state.scope, {});
  state.innermost = &own_team;
  t_short_regions = {};
  thread_uses(library);
  state.region = region;
  state.number = number;
  state.idle = 0;
  state.loop.row = nullptr;
}

void leave(member& self) noexcept {
  lane_state& state = *self.state;
  self.on->count_hook(2);
  state.innermost = self.outer_team;
  state.region = self.outer_region;
  state.number = self.outer_number;
  state.idle = self.outer_idle;
  state.loop.row = nullptr;
  if (self.outer_loop.row != nullptr) [[unlikely]]
    state.loop = self.outer_loop;
  state.task_credit = 0;
  state.sampling.now = self.outer_task;
  if (the_recorder.traces()) end_scope(state, self.outer_scope);
  // The time of a nested region is no part of the stretch around it.
  if (self.outer_task.is_inside) [[unlikely]]
    state.sampling.begin_stretch(base::now(), state.idle);
}

void begin_member(member& self, team& own_team, std::uint32_t number) noexcept {
  lane_context context;
  self.on = nullptr;
  if (own_team.level == 1) {
    begin_steered_part(own_team, number);
    if (own_team.has_loop && t_steered_part.is_in_team) begin_forked_loop(own_team);
  }
  if (!lookup(context)) return;
  context.state->ended = {};
  if (number >= own_team.slot_count) return;
  self.slot = &own_team.slots[number];
  enter(self, context, own_team, own_team.of, own_team.subject, number);
  self.begin = base::now();
  if (own_team.level == 1) self.begin = context.state->use.begins(self.begin);
  context.on->record(event_kind::work_begin, own_team.subject, 0, own_team.instance, number, self.begin);
  if (own_team.has_loop) begin_loop(context, own_team.loop);
}

void end_member(member& self, team& own_team) noexcept {
  if (own_team.level == 1) end_steered_part();
  // A child that was forked inside the region has lanes of its own, and must not write into its parent's.
  if (self.on == nullptr || observe::t_lane != self.on) return;
  lane_state& state = *self.state;
  end_loop({self.on, &state});
  const ticks end = base::now();
  if (own_team.level == 1) state.use.ends(*self.on, own_team.subject, self.begin, end);
  *self.slot = {own_team.instance, self.begin, end, state.idle, 0, self.on->id(), true};
  self.on->record(event_kind::work_end, own_team.subject, 0, own_team.instance, state.idle, end);
  leave(self);
  state.ended = {self.slot, &own_team, own_team.instance, end, own_team.forker_state};
}

void account_joined(lane_state& state) noexcept {
  if (state.unaccounted.instance == 0) return;
  account(state, state.unaccounted);
  state.unaccounted.instance = 0;
}

}  // namespace trimtab::openmp
