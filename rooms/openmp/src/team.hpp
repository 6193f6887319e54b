// The accounting of one parallel region instance, the same for every runtime: the forking lane opens a team
// on its stack, every member stamps its own slot, and after the join the forking lane alone writes the
// profile rows of all members. So no row has two writers, and no member pays for another's bookkeeping.
//
//   forker   fork -> [begin_member .. work .. end_member] -> join
//   member           [begin_member .. work .. end_member]
//
// Times of a member: arrival = begin - fork, work = end - begin - idle, join wait = join - end.
// idle = ticks in it spent waiting (barriers, locks, taskwait, inner joins).
// Nothing here throws or allocates from the program's heap; a region that never joins is simply not counted.
#pragma once

#include <cstddef>

#include "known_table.hpp"
#include "runtimes.hpp"
#include "task_sampling.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

using base::ticks;
using observe::lane;
using observe::no_subject;

struct lane_state;
struct team;
struct loop_site;
struct loop_plan;

// One member's stamps, in a line of its own. Valid for the team whose instance it carries; of an outermost region
// (outermost.hpp), for the one in whose time it lies.
struct alignas(64) member_slot {
  std::uint64_t instance;
  ticks begin;
  ticks end;
  ticks idle;
  ticks late_work;  // tasks executed in the join's barrier, after `end`
  std::uint32_t lane;
  bool has_constructs;
};

// What the members of one number left of their last parts in outermost regions. More than the forker may still have
// to read: so that the line which is written next has long been fetched back.
struct part_ring {
  static constexpr std::uint32_t size = 4;
  alignas(64) std::uint32_t turn;  // by members only
  member_slot parts[size];
};

// The part that a lane has just ended. While its team is not joined yet, tasks that the lane runs (in the join's
// barrier) count as work of that part.
struct ended_part {
  member_slot* slot = nullptr;
  team* of = nullptr;
  std::uint64_t instance = 0;
  ticks end = 0;
  lane_state* forker = nullptr;

  bool is_unjoined() const noexcept;
};

// A team that has joined. One of a short region is accounted later, when its forker waits anyway: reading what
// other cores have just written takes longer than all the rest.
struct joined_team {
  std::uint64_t instance = 0;  // 0: none
  const void* outlined;
  const member_slot* slots;  // nullptr: the lane's rings
  std::uint32_t slot_count;
  std::uint32_t subject;
  std::uint32_t outer_region;
  std::uint16_t rows;  // flags of the rows that it goes to
  ticks forked_at;
  ticks end;
  observe::event* end_event;  // told the number of threads when it is known
};

// A loop that the fork call itself started (GOMP_parallel_loop_*).
struct loop_start {
  observe::schedule schedule = observe::schedule::none;
  std::uint64_t chunk = 0;
  std::uint64_t trip = observe::unknown;
  std::int64_t increment = 1;
  const void* place = nullptr;  // nullptr: none
};

// A loop in its own numbering: first, first + increment, ... before `last`.
struct loop_to_share {
  observe::schedule written;
  std::uint64_t trip;
  std::uint64_t chunk;
  std::uint64_t first;
  std::uint64_t last;
  std::int64_t increment;
};

// The first line is all that members read: every line that they share with the forker costs each region a
// transfer between cores.
struct alignas(64) team {
  const void* outlined;
  void* data;  // for the entry points' own wrappers
  runtime* of;
  member_slot* slots;
  std::uint64_t instance;
  std::uint32_t slot_count;
  std::uint32_t subject;
  std::uint16_t level;
  bool is_left_out;           // its loops are not watched, see watching.hpp
  std::uint8_t further_ones;  // instances left out that are taken to be like this one
  bool is_gcc;                // its static loops are inlined, see omp_get_num_threads
  bool has_loop;
  std::uint16_t arguments;  // for the entry points' own wrappers
  lane_state* forker_state;

  alignas(64) lane* forker;
  ticks forked_at;
  std::uint32_t outer_region;
  bool is_sample;  // see short_regions.hpp
  ended_part outer_ended;
  loop_start loop;
  // See steered_loops.hpp.
  std::uint64_t epoch;
  loop_site* shared_site;  // of the loop that the fork itself starts; nullptr: none that could be changed
  const loop_plan* shared_plan;
  loop_to_share shared_loop;
  std::uint32_t shared_members;
  alignas(64) mutable std::atomic<std::uint64_t> claimed;  // by the members, see claimed_loops.hpp
};
static_assert(offsetof(team, forker) == 64);

// The work-sharing loop that a lane is in.
struct open_loop {
  observe::profile_row* row = nullptr;  // nullptr: not in a loop
  std::uint32_t subject = 0;
  observe::schedule schedule = observe::schedule::none;
  std::int64_t increment = 1;
  ticks begin = 0;
  std::uint64_t iterations = 0;
  std::uint64_t chunks = 0;
  std::uint32_t dimensions = 0;  // of a doacross loop
};

// A static loop that GCC has inlined, recognised at its place before.
struct inferred_loop {
  const void* place = nullptr;
  std::uint32_t region = no_subject;
  observe::profile_row* row = nullptr;
};

// What a member keeps on its stack while it works for a team.
struct member {
  lane* on = nullptr;  // nullptr: not recorded
  lane_state* state;
  member_slot* slot;
  ticks begin;
  team* outer_team;
  std::uint32_t outer_region;
  std::uint32_t outer_number;
  ticks outer_idle;
  open_loop outer_loop;
  task_context outer_task;
};

// Where a task begins that a lane runs in a join's barrier: what it must come back to.
struct task_outside {
  ended_part late;
  team* outer_team;
  std::uint32_t outer_region;
  ticks outer_idle;
  open_loop outer_loop;
};

// How a task that is about to run is recorded.
struct task_start {
  enum class treatment : std::uint32_t { none, timed, stamped, counted };

  task_kind* kind = nullptr;
  treatment how = treatment::none;
  task_weight weight;

  // There is something to do when it ends, too.
  bool has_end() const noexcept { return how == treatment::timed || how == treatment::stamped; }
};
static_assert(sizeof(task_start) == 16, "returned in registers");

// One execution of an explicit task that has an end, kept by whoever runs it.
struct running_task {
  // What no task reads that is not recorded is left as it is: to clear it would cost more than all the rest.
  running_task() noexcept {}

  lane* on = nullptr;  // nullptr: nothing to do at its end
  task_start start;
  bool is_continued;  // a later part of an untied task
  bool is_late;       // in a join's barrier: the latest of lane_state::late_tasks
  task_context around;
  std::uint64_t id;
  std::uint64_t outer_id;
  std::uint64_t left_task;  // see lane_state
  ticks begin;
  ticks outer_credit;
};

// A region that its thread runs alone and in place, between two calls of the compiler's.
struct serialized_region {
  bool is_recorded = false;
  team shared;
  member only;
};

// A region of the entry points before GCC 4.9: the forker itself calls the outlined function between
// GOMP_parallel_start and GOMP_parallel_end, and what the workers are given must live until then.
struct unbundled_region {
  bool is_recorded = false;
  team shared;
  member only;
};

// The short region under way that this lane has forked, whose members are not timed (short_regions.hpp). What is atomic
// other lanes read when they meet a construct and know of no region that they are in.
struct short_region {
  std::atomic<std::uint32_t> subject_1;  // + 1; 0: none is under way
  std::atomic<bool> has_constructs;
  std::atomic<runtime*> of;
  const void* outlined;
  std::uint64_t instance;  // 0: it is only counted
  ticks forked_at;
};

// What is known of how long a region is.
struct region_length {
  std::uint32_t members;       // of the last one that was timed in full
  std::uint32_t asked;         // how often it was asked whether the next may go without
  std::uint16_t timed_one_in;  // 0 and 1: all are
  std::uint8_t counted_next;   // so many more are only counted, before that is asked again
  bool has_constructs;         // ever
  std::uint32_t timed_next;    // so many more are timed, whatever the rest says
  ticks longest;               // this and what follows: of instances that were timed in full, since one had other members
  std::uint32_t streak;
  std::uint32_t short_streak;  // since one was not short
  ticks wall, work;            // sums; work: the mean of the members'
  ticks untold;                // wall of those that were not timed, and longer by far than all that were
};

struct known_place {
  const void* place;
  observe::subject_kind kind;
  std::uint32_t generation;
  std::uint32_t subject;
  std::uint32_t row_region;
  observe::profile_row* row;  // of those that are only counted there, in row_region; nullptr: not asked for yet
};
struct alignas(64) known_region {  // the first line is all that an instance without timed members needs
  static constexpr std::uint32_t max_members = 8;
  const void* outlined;
  runtime* of;
  observe::profile_row* untimed_row;  // this and the next two: nullptr, not asked for yet
  std::uint32_t outer_region;
  std::uint32_t generation;
  std::uint32_t subject;
  region_length length;
  observe::profile_row* row;
  observe::profile_row* sample_row;
  std::uint32_t members[max_members];  // lane + 1
  observe::profile_row* member_rows[max_members];
  observe::profile_row* member_sample_rows[max_members];
  bool is_thunk_sought;
  void* thunk;  // see outermost.hpp
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
  task_sampling sampling = {};
  ticks lock_taken[max_locks] = {};
  ticks lock_waited[max_locks] = {};
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

// Rises when an object is unloaded: what was known of its addresses holds no longer.
extern std::atomic<std::uint32_t> places_generation;

// Set while the recorder records; false at level idle. One relaxed load on every hook.
extern std::atomic<bool> is_recording;

// What a thread of short regions (short_regions.hpp) has found out once and need not ask again, each while it is the number
// of places_generation. That it enters a region or a task that is recorded is the end of all.
struct proven {
  std::uint32_t is_untimed;   // it is in an instance whose members are not timed, and nothing is changed in it
  std::uint32_t was_untimed;  // of the forker: so it is in all that are not
  std::uint32_t is_outside;   // of the forker: it is in no region
};
extern constinit thread_local proven t_proven;

// The calling thread's lane and state.
struct here {
  lane* on;
  lane_state* state;
};
// This thread was made by a runtime: what it runs is of a region.
extern constinit thread_local bool t_is_runtimes_own;
extern constinit thread_local lane_state* t_state;
[[gnu::cold]] here find_here_slowly() noexcept;  // on == nullptr: there is none

// False when nothing is recorded. A lane passes from thread to thread, and a forked child has new ones: what
// this thread knows of its lane holds only while both still name each other.
inline bool find_here(here& found) noexcept {
  if (!is_recording.load(std::memory_order_relaxed)) return false;
  // Never by its address: it stays in registers, where tasks of some nanoseconds need it.
  here seen = {observe::t_lane, t_state};
  if (seen.on == nullptr || seen.state == nullptr || seen.state->owner != seen.on) [[unlikely]]
    seen = find_here_slowly();
  found = seen;
  return seen.on != nullptr;
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
known_region* region_at(lane_state& state, runtime* of, const void* outlined, std::uint32_t outer_region,
                        const char* source) noexcept;

// Unique in the process without asking other lanes: lanes have less than 24 bits.
inline std::uint64_t new_instance(lane_state& state) noexcept {
  return (std::uint64_t{state.owner->id() + 1u} << 40) | ++state.instances;
}

// Stamps the fork: fills in all of the team but its slots, and records that it begins.
void begin_region(const here& at, team& opened, const caller& from, const void* outlined, const known_region& region,
                  std::uint32_t level) noexcept;
// Stamps the join, and accounts it now or later. slots: nullptr for the lane's rings.
void end_region(team& joined, const member_slot* slots) noexcept;

// most: an upper bound of the team's size. False: not recorded, call the runtime as if we were not there.
bool fork_team(team& opened, const caller& from, const void* outlined, std::uint32_t most, const char* source) noexcept;
void join_team(team& joined) noexcept;
// Once, when the clock is known.
void prepare_accounting() noexcept;
// Accounts the team whose accounting was put off, if there is one. By the lane's own thread.
void account_joined(lane_state& state) noexcept;
void begin_member(member& mine, team& of, std::uint32_t number) noexcept;
// What both kinds of members do: the lane goes into the region, and comes back.
void enter(member& mine, const here& at, team& of, runtime* with, std::uint32_t region, std::uint32_t number) noexcept;
void leave(member& mine) noexcept;
void end_member(member& mine, team& of) noexcept;

// A wait of the calling lane, as RAII around the real call.
class wait {
 public:
  wait(observe::subject_kind kind, observe::wait_kind why, const void* place, const char* source = nullptr) noexcept;
  ~wait();
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;

 private:
  here m_here{};
  bool m_is_on;
  bool m_is_in_stretch = false;  // see task_sampling
  observe::subject_kind m_kind;
  observe::wait_kind m_why;
  const void* m_place;
  const char* m_source;
  ticks m_begin = 0;
  ticks m_credit = 0;
};
// One that is not timed. Returns the row that it went to; nullptr: none.
observe::profile_row* count_wait(const here& at, observe::subject_kind kind, observe::wait_kind why, const void* place,
                                 const char* source) noexcept;

// Static loops and reductions are no constructs that a short region must be timed for.
bool is_sampled(observe::schedule how) noexcept;
bool is_sampled(observe::wait_kind why) noexcept;
// Such a one is met where members are not timed.
bool is_left_to_sample(const lane_state& state, observe::schedule how) noexcept;
bool is_left_to_sample(const lane_state& state, observe::wait_kind why) noexcept;

// Loops. first/last in iterations of the loop's own numbering; count = iterations of the chunk taken.
void begin_loop(const here& at, const loop_start& what, const char* source = nullptr) noexcept;
void take_chunk(const here& at, std::int64_t first, std::uint64_t count) noexcept;
void end_loop(const here& at) noexcept;
void inferred_loop_passed(const here& at, const void* place) noexcept;

void lock_entered(const here& at, ticks asked) noexcept;
void lock_left(const here& at, const void* place, observe::subject_kind kind) noexcept;
void single_passed(const here& at, const void* place, bool is_executed) noexcept;

// Explicit tasks.
using gomp_function = void (*)(void*);
using kmp_task_function = std::int32_t (*)(std::int32_t, void*);
// How clang lays a task out. An untied one is entered anew for each of its parts.
struct kmp_task {
  void* shared;
  kmp_task_function routine;
  std::int32_t part;
};
// A task function's number in the process, and the function that stands for it: itself if there is no room for another.
inline constexpr std::uint32_t no_slot = 0xffffffffu;
template <class function>
struct task_thunk {
  std::uint32_t slot;
  function run;
};
task_thunk<gomp_function> thunk_of(gomp_function function) noexcept;
task_thunk<kmp_task_function> thunk_of(kmp_task_function function) noexcept;
// The slot of a function's thunk; no_slot: it is none.
std::uint32_t slot_of_thunk(kmp_task_function thunk) noexcept;
const void* function_of_slot(std::uint32_t slot) noexcept;

// What the lane knows of that slot's function; nullptr: nothing yet, or no longer.
inline task_kind* known_kind(lane_state& state, std::uint32_t slot) noexcept {
  task_kind& kind = state.task_kinds[slot];
  const bool is_known = kind.exact_row != nullptr && kind.generation == places_generation.load(std::memory_order_relaxed);
  return is_known ? &kind : nullptr;
}

[[gnu::cold]] void task_created_slowly(const here& at, std::uint32_t slot, const void* function, const runtime* of,
                                       const char* source) noexcept;
// `of` is the runtime that the task is given to, `source` as in subject_at. slot: of its function.
inline void task_created(const here& at, std::uint32_t slot, const void* function, const runtime* of,
                         const char* source = nullptr) noexcept {
  region_of_construct(*at.state);  // the region has a construct
  task_kind* const kind = slot == no_slot || observe::the_recorder.traces() ? nullptr : known_kind(*at.state, slot);
  if (kind == nullptr) [[unlikely]]
    return task_created_slowly(at, slot, function, of, source);
  kind->exact_row->x[observe::task_fields::created] += 1;
}
// The task created last was no task, but the pattern of a taskloop's pieces.
void pattern_created(const here& at, const void* function) noexcept;

// While it lives the calling thread is in a runtime's taskloop, which makes pieces out of `function`.
class taskloop_call {
 public:
  taskloop_call(const here& at, const void* function) noexcept;
  ~taskloop_call();
  taskloop_call(const taskloop_call&) = delete;
  taskloop_call& operator=(const taskloop_call&) = delete;

 private:
  here m_at;
  std::uint32_t m_outer;
};

// Between the two the calling thread runs a task. is_continued: a later part of an untied task.
// Counts the task of that slot, which the calling thread is about to run, and decides about the rest.
task_start start_task(std::uint32_t slot, bool is_continued) noexcept;
// Behind start_task, if the task has an end.
void begin_task(running_task& task, const task_start& start, bool is_continued) noexcept;
void end_task(running_task& task) noexcept;

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
observe::profile_row* row_of(const here& at, const counted_rows& of, const char* source) noexcept;

// The subject at a place. source: clang's ";file;function;line;column;;", or nullptr.
std::uint32_t subject_at(lane_state& state, observe::subject_kind kind, const void* place, bool is_call,
                         std::uint16_t runtime, std::uint32_t parent, const char* source) noexcept;

}  // namespace trimtab::openmp
