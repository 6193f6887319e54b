#include <mutex>

#include "accounting/short_regions.hpp"
#include "accounting/steering_ports.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::openmp {

using observe::event_kind;

namespace {

base::spin_lock binding_lock;

// The function of `among` that is bound to these; nullptr: none is left.
void* bound_thunk(thunk_set& thunks, const region_binding& wanted) noexcept {
  const std::lock_guard guard(binding_lock);
  const std::uint32_t used = thunks.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    const region_binding& bound = thunks.bindings[i];
    if (bound.outlined == wanted.outlined && bound.forker == wanted.forker && bound.of == wanted.of &&
        bound.generation == wanted.generation)
      return thunks.functions[i];
  }
  if (used == thunks.size) return nullptr;
  thunks.bindings[used] = wanted;
  thunks.used.store(used + 1, std::memory_order_relaxed);
  return thunks.functions[used];
}

}  // namespace

void outermost_after_fork() noexcept {
  binding_lock.reset();
  short_regions_after_fork();
}

void* open_outermost(const caller& from, const void* outlined, std::uint32_t clause, const char* source,
                     thunk_set& thunks) noexcept {
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
      region->thunk = bound_thunk(thunks, {outlined, &state, from.of, region->subject, region->generation});
  }
  if (region->thunk == nullptr) return nullptr;
  begin_region(context, state.outermost, from, outlined, *region, 1);
  state.outermost.is_gcc = &thunks == &gomp_regions;
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
void begin_part(member& self, const region_binding& binding, std::uint32_t number) noexcept {
  lane_context context;
  self.on = nullptr;
  begin_steered_part(binding.forker->outermost, number);
  if (number != 0) t_is_runtimes_own = true;  // the forker is the first
  if (!lookup(context)) return;
  context.state->ended = {};
  if (number >= lane_state::max_rings) return binding.forker->has_large_teams.store(true, std::memory_order_relaxed);
  part_ring& ring = binding.forker->rings[number];
  self.slot = &ring.parts[ring.turn];
  ring.turn = (ring.turn + 1) % part_ring::size;
  context.state->has_met_construct = false;
  enter(self, context, binding.forker->outermost, binding.of, binding.subject, number);
  self.begin = context.state->use.begins(base::now());
  context.on->record(event_kind::work_begin, binding.subject, 0, 0, number, self.begin);
}

void end_part(member& self, const region_binding& binding) noexcept {
  end_steered_part();
  // A child that was forked inside the region has lanes of its own, and must not write into its parent's.
  if (self.on == nullptr || observe::t_lane != self.on) return;
  lane_state& state = *self.state;
  end_loop({self.on, &state});
  const ticks end = base::now();
  state.use.ends(*self.on, binding.subject, self.begin, end);
  member_slot& slot = *self.slot;
  slot.idle = state.idle;
  slot.late_work = 0;
  slot.lane = self.on->id();
  slot.has_constructs = state.has_met_construct;
  std::atomic_ref(slot.begin).store(self.begin, std::memory_order_relaxed);  // see part_of
  std::atomic_ref(slot.end).store(end, std::memory_order_relaxed);
  self.on->record(event_kind::work_end, binding.subject, 0, 0, state.idle, end);
  const std::uint32_t number = state.number;
  leave(self);
  state.ended = {self.slot, &binding.forker->outermost, 0, end, binding.forker};
  // Now others are waited for.
  part_ring& ring = binding.forker->rings[number];
  __builtin_prefetch(&ring.parts[ring.turn], 1);
  if (binding.forker == &state) account_joined(state);
}

}  // namespace trimtab::openmp
