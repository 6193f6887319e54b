// What recording and the hooks call of the steering side: tables of functions that it fills in while something is switched
// on, and takes away again. So nothing of what records depends on how a program is steered. The tables are constant, so
// whoever has one may use it to the end.
#pragma once

#include <atomic>
#include <cstdint>

#include "accounting/team.hpp"

namespace trimtab::openmp {

struct gomp_loop_port;  // hooks/gomp/loop_port.hpp
struct kmpc_loop_port;  // hooks/kmpc/loop_port.hpp

// Loops may be shared out in another way than they are written.
struct loop_port {
  // A member's part in an outermost team begins.
  void (*part_begins)(const team& outermost, std::uint32_t number) noexcept;
  // Behind the former: the loop that the fork itself has started.
  void (*begin_forked_loop)(const team& outermost) noexcept;
  // The calling thread begins a loop that is left as it is, or gets nothing more of one.
  void (*begin_unshared)(const caller& from) noexcept;
  void (*end_shared)(const caller& from) noexcept;
  // It has passed a barrier of the team in which it made the call; the team that it forked has joined.
  void (*barrier_passed)(const caller& from) noexcept;
  void (*team_joined)(const team& joined) noexcept;
  const gomp_loop_port* gomp;
  const kmpc_loop_port* kmpc;
};

// Teams may have other numbers of members than the program says.
struct team_port {
  // The clause that a fork of this function is to be given in place of the program's.
  std::uint32_t (*fit_clause)(const caller& from, const void* outlined, std::uint32_t clause) noexcept;
  // How far apart a team's members came to the end.
  void (*note_skew)(ticks skew) noexcept;
};

// Each region may have a number of its own.
struct region_port {
  // The outermost region that the calling thread has forked has joined.
  void (*region_ended)(const void* outlined, std::uint32_t subject, ticks wall) noexcept;
  // Members of an instance that was timed took this long at most.
  void (*note_longest_part)(const void* outlined, ticks wall, ticks longest, std::uint32_t members) noexcept;
  // The start of the one that it forks now must be timed.
  bool (*is_start_timed)() noexcept;
};

// Somebody looks at how members wait.
struct wait_port {
  // all_work: of all members of a region that has ended.
  void (*note_passage)(lane_state& forker, ticks forked_at, ticks end, std::uint32_t threads, ticks all_work) noexcept;
};

// Functions with GCC's static loops may be run once for each of more blocks than there are threads. False: not this one,
// nothing was done.
using virtual_region_function = bool(const void* return_address, gomp_function outlined, void* data, unsigned threads,
                                     unsigned flags);
using block_time_function = void(const caller& from) noexcept;

// nullptr: switched off. One line, read by all that fork and never written while regions run.
struct alignas(64) steering_ports {
  std::atomic<const loop_port*> loops{nullptr};
  std::atomic<const team_port*> teams{nullptr};
  std::atomic<const region_port*> regions{nullptr};
  std::atomic<const wait_port*> waits{nullptr};
  std::atomic<virtual_region_function*> run_virtually{nullptr};
  std::atomic<bool> are_forks_changed{false};  // teams or run_virtually is there: a fork looks at one of them only
  std::atomic<block_time_function*> turn_block_time{nullptr};
  std::atomic<std::uint32_t> block_time_version{0};  // rises when another block time is wanted
};
extern steering_ports the_steering_ports;

// Rises with each new plan of a loop; a fork notes it.
extern std::atomic<std::uint64_t> steering_epoch;
// The version that the calling thread has turned its block time to.
extern constinit thread_local std::uint32_t t_block_time_version;
// What hooks ask of the calling thread before they call the loop port: while a program is steered, most loops and barriers
// are none of its business. All but is_in_team and is_first are written by the port.
struct steered_part {
  bool is_in_team;       // in its part of a team whose loops may be shared out in another way
  bool is_first;         // of that team; this and is_measuring stay until the team has joined
  bool has_loop;         // a loop is under way that the steering side serves
  bool has_shared_loop;  // and shares out in another way
  bool is_measuring;     // loops up to the next barrier, or to the join
};
extern constinit thread_local steered_part t_steered_part;

inline const loop_port* loop_port_now() noexcept { return the_steering_ports.loops.load(std::memory_order_relaxed); }
inline const team_port* team_port_now() noexcept { return the_steering_ports.teams.load(std::memory_order_relaxed); }
inline const region_port* region_port_now() noexcept { return the_steering_ports.regions.load(std::memory_order_relaxed); }
inline const wait_port* wait_port_now() noexcept { return the_steering_ports.waits.load(std::memory_order_relaxed); }

inline void begin_steered_part(const team& outermost, std::uint32_t number) noexcept {
  const loop_port* const port = loop_port_now();
  if (port == nullptr) [[likely]]
    return;
  t_steered_part = {true, number == 0, false, false, false};
  port->part_begins(outermost, number);
}
inline void end_steered_part() noexcept {
  steered_part& part = t_steered_part;
  if (part.is_in_team) [[unlikely]]
    part = {false, part.is_first, false, false, part.is_first && part.is_measuring};
}

// The loops of the team that the calling thread is in; nullptr: they are as written.
inline const loop_port* port_of_team() noexcept { return t_steered_part.is_in_team ? loop_port_now() : nullptr; }
// The same of the loop that it is in.
inline const loop_port* port_of_shared_loop() noexcept { return t_steered_part.has_shared_loop ? loop_port_now() : nullptr; }

inline void begin_unshared_loop(const caller& from) noexcept {
  if (!t_steered_part.has_loop) [[likely]]
    return;
  if (const loop_port* const port = loop_port_now()) port->begin_unshared(from);
}
inline void end_shared_loop(const caller& from) noexcept {
  if (!t_steered_part.has_loop) [[likely]]
    return;
  if (const loop_port* const port = loop_port_now()) port->end_shared(from);
}
inline void team_barrier_passed(const caller& from) noexcept {
  if (!t_steered_part.is_measuring) [[likely]]
    return;
  if (const loop_port* const port = loop_port_now()) port->barrier_passed(from);
}
// The team that the calling thread has forked has joined.
inline void steered_team_joined(const team& joined) noexcept {
  if (!t_steered_part.is_measuring) [[likely]]
    return;
  if (const loop_port* const port = loop_port_now()) port->team_joined(joined);
}

inline std::uint32_t fitted_clause(const caller& from, const void* outlined, std::uint32_t clause) noexcept {
  const team_port* const port = team_port_now();
  return port == nullptr ? clause : port->fit_clause(from, outlined, clause);
}

// By the thread that is about to fork.
inline void turn_block_time_at_fork(const caller& from) noexcept {
  if (the_steering_ports.block_time_version.load(std::memory_order_relaxed) == t_block_time_version) [[likely]]
    return;
  if (auto* const turn = the_steering_ports.turn_block_time.load(std::memory_order_relaxed)) turn(from);
}

}  // namespace trimtab::openmp
