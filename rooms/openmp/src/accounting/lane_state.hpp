// What a lane is in now, and what it has found out before: used by its own thread, apart from the few atomics.
#pragma once

#include <atomic>

#include "accounting/cpu_sampling.hpp"
#include "accounting/known_places.hpp"
#include "accounting/task_dependences.hpp"
#include "accounting/task_execution.hpp"

namespace trimtab::openmp {

// A lock of omp_set_lock that the lane holds, in a trace. `depth`: how often a nestable one was set.
struct held_lock {
  const void* address = nullptr;
  std::uint32_t subject = 0;
  std::uint32_t depth = 0;
  ticks taken = 0;
};

// What a lane is in now. Made at the lane's first region, reached through lane.adapter, never freed. What regions need
// each time is in the first lines.
struct lane_state {
  static constexpr std::uint32_t max_slots = 8192;
  static constexpr std::uint32_t max_rings = 1024;
  static constexpr std::uint32_t max_known = 256;
  static constexpr std::uint32_t max_locks = 16;
  static constexpr std::uint32_t max_serialized = 16;
  static constexpr std::uint32_t max_unbundled = 8;
  static constexpr std::uint32_t max_undeferred = 64;
  static constexpr std::uint32_t max_late = 16;
  static constexpr std::uint32_t task_slots = 2 * 256;  // see task_thunk

  lane* owner = nullptr;
  team* innermost = nullptr;
  std::uint32_t region = no_subject;
  std::uint32_t number = 0;
  ticks idle = 0;                       // waited so far in the part now under way
  ticks task_credit = 0;                // tasks executed inside the wait now under way: work, not waiting
  bool has_met_construct = false;       // in the part now under way
  std::uint32_t requested_threads = 0;  // a num_threads clause, of the next fork

  // What other lanes read, too: seldom written while a region is under way.
  alignas(64) short_region short_one = {};
  std::atomic<bool> is_outermost_open{false};  // the region that this lane has forked, if it is one of outermost.hpp
  std::atomic<bool> has_large_teams{false};    // larger than the rings: then there are none of outermost.hpp
  std::uint32_t slots_used = 0;
  std::uint64_t instances = 0;  // regions that this lane has forked
  joined_team unaccounted;
  ticks joined_at = 0;  // the latest outermost region of several members; while waits are timed (wait_times.hpp)
  ended_part ended;
  inferred_loop inferred;
  open_loop loop;
  // How much of the arrays below is in use: all that a new thread must find empty is in the first page.
  std::uint32_t locks = 0;
  std::uint32_t serialized = 0;
  std::uint32_t unbundled = 0;
  std::uint32_t undeferred = 0;                // tasks with a false `if`, which the program runs itself
  std::uint32_t late = 0;                      // tasks in a join's barrier, each but the first in a region of the one before
  std::uint32_t teams_asked = 0;               // a num_teams clause, of the next fork
  std::uint32_t created_subject = no_subject;  // allocated, the runtime has not told of it yet
  std::uint32_t taskloop_subject = no_subject;  // of the taskloop call that this thread is in
  std::uint64_t scheduled_task = 0;             // identity of what runs, by OMPT; 0: an implicit task, or not known
  std::uint64_t left_task = 0;                  // what ran before it
  std::uint64_t begun_task = 0;                 // of the innermost task that begin_task has seen
  std::uint64_t tasks = 0;                      // identities that this lane gave
  task_scope scope = {};                        // of the innermost task, in traces
  task_dependences* dependences = nullptr;      // of this lane's tasks; nullptr: none was asked for, or there is no memory
  bool has_no_dependences = false;              // they have been asked for
  task_sampling sampling = {};
  cpu_sampling use = {};
  ticks lock_taken[max_locks] = {};
  ticks lock_waited[max_locks] = {};
  const void* lock_address[max_locks] = {};  // which lock it is; never dereferenced
  std::uint32_t held_count = 0;
  held_lock held_locks[max_locks];
  serialized_region serialized_regions[max_serialized];
  unbundled_region unbundled_regions[max_unbundled];
  running_task undeferred_tasks[max_undeferred];
  task_outside late_tasks[max_late];
  known_table<known_place, max_known> places;
  known_table<known_region, max_known> regions;
  task_kind task_kinds[task_slots];
  team outermost;                      // if is_outermost_open
  part_ring rings[max_rings];          // by number
  std::uint8_t ring_turns[max_rings];  // where the forker expects the next part
  member_slot slots[max_slots];        // of all other teams that this lane forked, innermost last
};

// The join gives the team's slots back; `of` must not be looked at from then on.
inline bool ended_part::is_unjoined() const noexcept {
  if (slot == nullptr || slot->instance != instance) return false;
  if (of == &forker->outermost) return forker->is_outermost_open.load(std::memory_order_relaxed) && slot->end == end;
  return slot - forker->slots < std::ptrdiff_t{std::atomic_ref(forker->slots_used).load(std::memory_order_relaxed)};
}

// Set while the recorder records; false at level idle. One relaxed load on every hook.
extern std::atomic<bool> is_recording;

// What a thread of short regions (short_regions.hpp) has found out once and need not ask again, each while it is the number
// of places_generation. That it enters a region or a task that is recorded is the end of all.
struct short_region_cache {
  std::uint32_t is_untimed;   // it is in an instance whose members are not timed, and nothing is changed in it
  std::uint32_t was_untimed;  // of the forker: so it is in all that are not
  std::uint32_t is_outside;   // of the forker: it is in no region
};
extern constinit thread_local short_region_cache t_short_regions;

// The calling thread's lane and state.
struct lane_context {
  lane* on;
  lane_state* state;
};
// This thread was made by a runtime: what it runs is of a region.
extern constinit thread_local bool t_is_runtimes_own;
extern constinit thread_local lane_state* t_state;
[[gnu::cold]] lane_context lookup_slowly() noexcept;  // on == nullptr: there is none

// False when nothing is recorded. A lane passes from thread to thread, and a forked child has new ones: what
// this thread knows of its lane holds only while both still name each other.
inline bool lookup(lane_context& context) noexcept {
  if (!is_recording.load(std::memory_order_relaxed)) return false;
  // Never by its address: it stays in registers, where tasks of some nanoseconds need it.
  lane_context current = {observe::t_lane, t_state};
  if (current.on == nullptr || current.state == nullptr || current.state->owner != current.on) [[unlikely]]
    current = lookup_slowly();
  context = current;
  return context.on != nullptr;
}

// Of a lane that knows of no region: the one whose members are not timed, if it is in that; else no_subject.
std::uint32_t untimed_region_of(const lane_state& state) noexcept;
// Of such a lane, too: for what is left to the instances that are timed. Or it is in a region that is not recorded.
bool is_in_untimed(const lane_state& state) noexcept;

// The region that the construct stands in which this lane meets now.
inline std::uint32_t region_of_construct(lane_state& state) noexcept {
  state.has_met_construct = true;
  return state.innermost != nullptr ? state.region : untimed_region_of(state);
}

// What a lane knows of a region; nullptr: no room for another subject.
known_region* region_at(lane_state& state, runtime* library, const void* outlined, std::uint32_t outer_region,
                        const char* source) noexcept;

// Unique in the process without asking other lanes: lanes have less than 24 bits.
inline std::uint64_t new_instance(lane_state& state) noexcept {
  return (std::uint64_t{state.owner->id() + 1u} << 40) | ++state.instances;
}

// Where what is only counted at a place goes: a row of the place's subject, which the lane remembers.
struct counted_rows {
  observe::subject_kind kind;
  const void* place;
  bool is_call;
  std::uint32_t parent;
  observe::metric what;
  std::uint32_t in_region;
  std::uint16_t flags;
};
// nullptr: none, counted as dropped.
observe::profile_row* row_of(const lane_context& context, const counted_rows& rows, const char* source) noexcept;

// A construct of the program, where the lane is.
struct construct {
  observe::subject_kind kind;
  const void* place;
  std::uint32_t parent;  // the region's subject
  bool is_call = true;   // place is the return address of a call, not a function
  std::uint16_t runtime = 0;
  const char* source = nullptr;  // clang's ";file;function;line;column;;"
};
std::uint32_t subject_at(lane_state& state, const construct& at) noexcept;

}  // namespace trimtab::openmp
