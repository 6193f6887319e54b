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

#include <atomic>
#include <cstddef>

#include "accounting/loops.hpp"
#include "accounting/region_mode.hpp"
#include "accounting/task_dependences.hpp"
#include "accounting/task_sampling.hpp"
#include "runtimes/runtimes.hpp"

namespace trimtab::openmp {

struct lane_context;
struct known_region;
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
  region_mode mode;           // timed or shared_out
  std::uint8_t further_ones;  // instances whose loops are not watched and are taken to be like this one
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
  // Of loops that are shared out in another way; by the loop port.
  std::uint64_t epoch;
  loop_site* shared_site;  // of the loop that the fork itself starts; nullptr: none that could be changed
  const loop_plan* shared_plan;
  loop_to_share shared_loop;
  std::uint32_t shared_members;
  alignas(64) mutable std::atomic<std::uint64_t> claimed;  // by the members, see claimed_loops.hpp
};
static_assert(offsetof(team, forker) == 64);

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
  task_scope outer_scope;  // in traces
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

// Stamps the fork: fills in all of the team but its slots, and records that it begins.
void begin_region(const lane_context& context, team& opened, const caller& from, const void* outlined,
                  const known_region& region, std::uint32_t level) noexcept;
// Stamps the join, and accounts it now or later. slots: nullptr for the lane's rings.
void end_region(team& joined, const member_slot* slots) noexcept;

// most: an upper bound of the team's size. False: not recorded, call the runtime as if we were not there.
bool fork_team(team& opened, const caller& from, const void* outlined, std::uint32_t limit, const char* source) noexcept;
void join_team(team& joined) noexcept;
// Once, when the clock is known.
void prepare_accounting() noexcept;
// Accounts the team whose accounting was put off, if there is one. By the lane's own thread.
void account_joined(lane_state& state) noexcept;
void begin_member(member& self, team& own_team, std::uint32_t number) noexcept;
// What both kinds of members do: the lane goes into the region, and comes back.
void enter(member& self, const lane_context& context, team& own_team, runtime* library, std::uint32_t region,
           std::uint32_t number) noexcept;
void leave(member& self) noexcept;
void end_member(member& self, team& own_team) noexcept;

}  // namespace trimtab::openmp
