// Loops of outermost regions that are shared out in another way than the program wrote.
//
// All members of a team must do the same with a loop, or iterations get lost or run twice. So:
// - What they do is a plan, which is never changed once it is published, and says from which epoch on it holds. The forking
//   thread notes the epoch in its team; each member takes the latest plan that is not younger.
// - A loop is told by what all members surely have in common: the region's function, the trip count and the schedule
//   that it was written with. Not by its place: compilers may have made several copies of it. So loops of a region that
//   must be divided alike (static, same trip and chunk: OpenMP 5.2, 11.5.3) are one site, too.
// - Only of teams whose members all came through a function of ours, and at nesting level 1 as the runtime itself says.
//
// A site's time is measured by the team's first thread, until the last member has finished (loop_chain.hpp). Loops of short
// regions are in a sample while nothing is changed (watching.hpp).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "accounting/steering_ports.hpp"
#include "accounting/waits.hpp"
#include "steering/cost_profile.hpp"
#include "steering/loop_chain.hpp"
#include "steering/loop_shares.hpp"
#include "steering/recording_ports.hpp"
#include "steering/region_sizes.hpp"

namespace trimtab::openmp {

// What a site's members do. Made by the steering thread; lives as long as the process.
struct loop_plan {
  std::uint64_t since;      // the first epoch that it holds in
  const loop_plan* before;  // nullptr: as written
  std::uint64_t under;      // the decision that it follows from
  sharing how;
  bool is_weighted;     // blocks of a static loop by `costs`
  std::uint64_t chunk;  // 0: as written
  cost_profile costs;
  std::uint32_t first_percent = first_percent_of_scheme;  // of a sharing that has a first chunk
};

// What the runtime is asked for in a loop's place: iterations of the program's numbering, or tickets from 0 before `last`.
struct runtime_loop {
  sharing by;  // static_, dynamic or guided
  std::uint64_t first, last;
  std::int64_t increment;
  std::uint64_t chunk;
};
// None of a plan that has none.
ticket_chunks tickets_of(const loop_plan& plan, const loop_to_share& loop, std::uint32_t members) noexcept;
// For a plan that shares a loop out by chunks: one of the kinds above. tickets: of a plan that has them.
runtime_loop runtime_loop_of(const loop_plan& plan, const loop_to_share& loop, std::uint32_t members,
                             const ticket_chunks& tickets) noexcept;

struct site_key {
  const void* outlined;
  std::uint64_t trip;  // any_trip: of a region that has too many
  std::uint64_t chunk;
  observe::schedule written;
  bool operator==(const site_key&) const = default;
};
inline constexpr std::uint64_t any_trip = ~std::uint64_t{0};

// The same in every run of the same build: "BUILD_ID+0xOFFSET/dynamic,4/1000". False: code of no object.
bool write_key(const site_key& key, char* buffer, std::size_t room) noexcept;

// What one member number took, under one plan. Its member writes, the steering thread reads.
struct alignas(64) member_load {
  std::atomic<const loop_plan*> under;
  std::atomic<std::uint64_t> ticks;
  std::atomic<std::uint64_t> instances;
  std::atomic<double> claimed_iterations, claimed_ticks;  // see claimed_loops.hpp
  std::atomic<base::ticks> chain_begun;  // of the latest chain that begins with this site, see loop_chain.hpp
};

struct loop_site {
  static constexpr std::uint32_t most_members = 1024;

  site_key key;
  std::atomic<const loop_plan*> latest;
  std::atomic<std::uint32_t> subject_1;  // of the loop seen first, + 1; 0: not told yet
  std::atomic<std::uint32_t> members;    // of the latest team
  std::atomic<member_load*> loads;       // most_members of them, of a site that is served
  std::atomic<ticks> longest_part;       // a part that takes longer has lost its CPU; 0: not known
  std::atomic<bool> has_company;         // it was measured together with other sites (loop_chain.hpp)
  // By the first threads of teams, one at a time; the steering thread empties the ring.
  std::atomic<bool> is_being_written;
  measurement_ring measured;
};

// The site of a loop, known before or new; nullptr: no room for another.
loop_site* site_of(const site_key& key) noexcept;
// What holds for teams that were forked in this epoch; nullptr: what the program wrote. And nullptr where a plan says no
// more.
const loop_plan* plan_of(const loop_site& site, std::uint64_t epoch) noexcept;
const loop_plan* unless_as_written(const loop_plan* plan) noexcept;
// One instance of it; one member's part of one.
void add_time(loop_site& site, const site_measurement& sample) noexcept;
void add_load(loop_site& site, std::uint32_t number, const loop_plan* plan, ticks took) noexcept;
// What the runtime answers to such a question.
std::uint32_t ask(const caller& from, symbol query_symbol) noexcept;

// True from the first region on in a process that is steered.
extern steering_switch is_steering;

// What earlier runs found: in force from a site's first loop on. `known` lives as long as the process.
struct known_plan {
  std::string key;
  loop_plan plan;
};
inline constexpr std::uint64_t under_what_was_known = ~std::uint64_t{0};  // no decision of this run

// The steering thread's side.
bool prepare_sites(const std::vector<known_plan>* plans = nullptr) noexcept;  // before is_steering; false: no memory
void sites_after_fork() noexcept;  // in the child, where whoever held a lock does not exist
std::uint32_t site_count() noexcept;
loop_site& site_at(std::uint32_t index) noexcept;
// In force for teams forked from now on; fills in since and before.
void publish(loop_site& site, loop_plan& plan) noexcept;

// What a thread is in. Of outermost teams only.
struct steered_thread {
  const team* of;  // whose member this thread is; nullptr: of none that could be steered
  std::uint32_t number;
  // The loop under way that is served.
  loop_site* site;  // nullptr: none
  const loop_plan* plan;
  ticks begin;
  loop_to_share loop;
  std::uint32_t members;
  ticket_chunks tickets;
  // Of a loop whose chunks are claimed; see claimed_loops.hpp.
  std::uint32_t claimed_loop;  // how many the team has had; of 24 bits
  bool are_tickets_over;
  std::uint64_t chunk;  // under way; 0: none
  ticks chunk_begin;
  double claimed_iterations, claimed_ticks, others_rate;
  loop_chain chain;
};
extern constinit thread_local steered_thread t_steered;

// A member's part begins (loop_port::part_begins).
void begin_part_of(const team& outermost, std::uint32_t number) noexcept;

// The calling thread begins a loop. What is to be done with it; nullptr: what the program wrote.
const loop_plan* begin_shared(const caller& from, const loop_to_share& loop) noexcept;
// The same where the fork itself starts the loop: the forker decides, and its members are told by the team.
const loop_plan* share_at_fork(const caller& from, team& opened, const loop_to_share& loop, std::uint32_t threads) noexcept;
void begin_shared_at_fork(const team& own_team) noexcept;

// Whether the call comes from the loop that t_steered has, and not from one of a region inside it.
bool is_in_shared_loop(const caller& from) noexcept;
// That loop, if it is not shared out as it was written.
inline steered_thread* shared_loop(const caller& from) noexcept {
  return t_steered.site != nullptr && t_steered.plan != nullptr && is_in_shared_loop(from) ? &t_steered : nullptr;
}
// This thread gets nothing more of it.
void end_shared(const caller& from) noexcept;
// A loop begins that is not for here: what was under way has been left (cancelled).
void begin_unshared(const caller& from) noexcept;

// The calling thread has passed a barrier of the team in which it made the call, and so have all its members come to it.
void barrier_passed(const caller& from) noexcept;
// The team that the calling thread forked has joined.
void team_joined(const team& joined) noexcept;

}  // namespace trimtab::openmp
