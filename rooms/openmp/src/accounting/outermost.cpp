#include <mutex>

#include "accounting/short_regions.hpp"
#include "accounting/steering_ports.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::openmp {

using observe::event_kind;

namespace {

base::spin_lock binding_lock;

// The function of `among` that is bound to these; nullptr: none is left.
void* bound_thunk(thunk_set& among, const region_binding& wanted) noexcept {
  const std::lock_guard guard(binding_lock);
  const std::uint32_t used = among.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    const region_binding& known = among.bindings[i];
    if (known.outlined == wanted.outlined && known.forker == wanted.forker && known.of == wanted.of &&
        known.generation == wanted.generation)
      return among.functions[i];
  }
  if (used == among.size) return nullptr;
  among.bindings[used] = wanted;
  among.used.store(used + 1, std::memory_order_relaxed);
  return among.functions[used];
}

}  // namespace

void outermost_after_fork() noexcept {
  binding_lock.reset();
  short_regions_after_fork();
}

void* open_outermost(const caller& from, const void* outlined, std::uint32_t clause, const char* source,
                     thunk_set& among) noexcept {
  lane_context context;
  if (from.is_internal || clause > lane_state::max_rings || !lookup(context) || observe::the_recorder.traces())
    return nullptr;
  lane_state& state = *context.state;
  if (state.innermost != nullptr || untimed_region_of(state) != no_subject ||
      state.is_outermost_open.load(std::memory_order_relaxed) || state.has_large_teams.load(std::memory_order_relaxed))
    return nullptr;
  known_region* const region = region_at(state, from.of, outlined, no_subject, source);
  if (region == nullptr) return nullptr;
  if (!region->is_thunk_sought) {
    region->is_thunk_sought = true;
    // How many the runtime would take is asked once; if it becomes more than we have room for, a member will tell.
    if (most_threads(from, clause) <= lane_state::max_rings)
      region->thunk = bound_thunk(among, {outlined, &state, from.of, region->subject, region->generation});
  }
  if (region->thunk == nullptr) return nullptr;
  begin_region(context, state.outermost, from, outlined, *region, 1);
  state.outermost.is_gcc = &among == &gomp_regions;
  state.outermost.is_sample = region->length.timed_one_in > 1;
  // The ones between are not timed, and so not watched either.
  if (state.outermost.is_sample && state.outermost.further_ones != 0 &&
      short_forker.load(std::memory_order_relaxed) == &state) {
    state.outermost.mode = region_mode::shared_out;
    state.outermost.further_ones = static_cast<std::uint8_t>(region->length.timed_one_in - 1);
  }
  state.outermost.slot_count = lane_state::max_rings;
  state.is_outermost_open.store(true, std::memory_order_relaxed);
  return region->thunk;
}

void close_outermost() noexcept {
  lane_state* const state = t_state;
  if (state == nullptr || observe::t_lane != state->owner) return;  // in the child of a fork
  state->is_outermost_open.store(false, std::memory_order_relaxed);
  end_region(state->outermost, nullptr);
}

// Nothing here may depend on what the forker has just written: no field of its team is read.
void begin_part(member& mine, const region_binding& of, std::uint32_t number) noexcept {
  lane_context context;
  mine.on = nullptr;
  begin_steered_part(of.forker->outermost, number);
  if (number != 0) t_is_runtimes_own = true;  // the forker is the first
  if (!lookup(context)) return;
  context.state->ended = {};
  if (number >= lane_state::max_rings) return of.forker->has_large_teams.store(true, std::memory_order_relaxed);
  part_ring& ring = of.forker->rings[number];
  mine.slot = &ring.parts[ring.turn];
  ring.turn = (ring.turn + 1) % part_ring::size;
  context.state->has_met_construct = false;
  enter(mine, context, of.forker->outermost, of.of, of.subject, number);
  mine.begin = base::now();
  context.on->record(event_kind::work_begin, of.subject, 0, 0, number, mine.begin);
}

void end_part(member& mine, const region_binding& of) noexcept {
  end_steered_part();
  // A child that was forked inside the region has lanes of its own, and must not write into its parent's.
  if (mine.on == nullptr || observe::t_lane != mine.on) return;
  lane_state& state = *mine.state;
  end_loop({mine.on, &state});
  const ticks end = base::now();
  member_slot& slot = *mine.slot;
  slot.idle = state.idle;
  slot.late_work = 0;
  slot.lane = mine.on->id();
  slot.has_constructs = state.has_met_construct;
  std::atomic_ref(slot.begin).store(mine.begin, std::memory_order_relaxed);  // see part_of
  std::atomic_ref(slot.end).store(end, std::memory_order_relaxed);
  mine.on->record(event_kind::work_end, of.subject, 0, 0, state.idle, end);
  const std::uint32_t number = state.number;
  leave(mine);
  state.ended = {mine.slot, &of.forker->outermost, 0, end, of.forker};
  // Now others are waited for.
  part_ring& ring = of.forker->rings[number];
  __builtin_prefetch(&ring.parts[ring.turn], 1);
  if (of.forker == &state) account_joined(state);
}

}  // namespace trimtab::openmp
