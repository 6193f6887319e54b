// How many members each outermost region gets, where the user consents to a number of its own for each.
//
// The rules of team_sizes.hpp hold: once the program was told a number, all regions have what it was told, and nothing here
// is in force any more. So all of this is done by the thread that forks first, and the steering thread.
//
// What is measured of a region is its wall time from fork to join, by its forker, and what it leaves to others: a runtime
// may have to make threads anew for a larger team than the one before (libgomp ends those that a smaller team does not
// need). That is part of the start of the next region, so a region's time is known when the next one has started: what that
// start took longer than it does after a team that was not smaller is the smaller team's.
#pragma once

#include <string>
#include <vector>

#include "steering/measurement_ring.hpp"
#include "steering/recording_ports.hpp"
#include "steering/team_sizes.hpp"

namespace trimtab::openmp {

// Regions of one outlined function. The first forker writes, unless said otherwise; zero bytes are right for every field.
struct region_site {
  const void* outlined;
  std::atomic<std::uint64_t> requested;  // see region_request; by the steering thread, and when it is new
  std::atomic<std::uint32_t> subject_1;  // its subject + 1; 0: none of it has joined
  std::atomic<std::uint32_t> own;        // the most that the program itself has had
  std::atomic<base::ticks> overhead;     // of the latest that was timed in full: fork and join without its longest part
  base::ticks usual_start;               // from fork to the forker's own part, after a team that was not smaller; 0: unknown
  measurement_ring measured;
};

// Members that a region is to have, and the decision that says so: read together at the fork.
struct region_request {
  std::uint32_t members = team_sizes::as_it_is;
  std::uint64_t under = 0;
};
inline constexpr std::uint64_t under_known_size = (std::uint64_t{1} << 40) - 1;  // what earlier runs found
void request_members(region_site& site, const region_request& request) noexcept;
region_request request_of(const region_site& site) noexcept;

struct known_size {
  std::string key;  // see write_region_key
  std::uint32_t members;
};

// The same in every run of the same build. False: code of no object.
bool write_region_key(const void* outlined, char* buffer, std::size_t room) noexcept;

// In the child of a fork: its regions are as the program has them.
void regions_after_fork() noexcept;
// The steering thread's side. Before is_fitting_teams; `known` lives as long as the process. False: no memory.
bool prepare_regions(const std::vector<known_size>* sizes) noexcept;
std::uint32_t region_count() noexcept;
region_site& region_site_at(std::uint32_t index) noexcept;

// True: regions have numbers of their own. The user consents.
extern steering_switch are_regions_fitted;

// Of the region and its loops as subjects (steer::subject_info).
inline std::uint64_t group_of(const void* outlined) noexcept {
  return are_regions_fitted.load(std::memory_order_relaxed) ? reinterpret_cast<std::uintptr_t>(outlined) : 0;
}

// What the calling thread has forked. Of the first forker only.
struct forked_region {
  region_site* site;  // under way and measured; nullptr: none
  std::uint64_t under, beside;
  std::uint32_t members;  // of the latest outermost team
  bool has_grown;         // it is larger than the one before, and has not started yet
  base::ticks forked_at;
  // The one before, which is not counted yet.
  region_site* ended;  // nullptr: it is, or is not measured
  site_measurement of_ended;
};
extern constinit thread_local forked_region t_forked;

// An outermost team is about to be forked, as team_sizes::fork: the members that it is to have. outlined: nullptr where its
// time is not known.
std::uint32_t fork_fitted(team_sizes& rules, const team_sizes::who& forker, const void* outlined,
                          std::uint32_t own_count) noexcept;
// One with a number that stays.
void fork_fixed(const team_sizes& rules, const team_sizes::who& forker, std::uint32_t members) noexcept;
// Its forker begins its own part.
void region_started(base::ticks now) noexcept;
// The region that this thread has forked is one whose size is sought.
inline bool is_size_sought() noexcept { return t_forked.site != nullptr; }
// It has joined.
void region_ended_slowly(const void* outlined, std::uint32_t subject, base::ticks wall) noexcept;
inline void region_ended(const void* outlined, std::uint32_t subject, base::ticks wall) noexcept {
  if (is_size_sought()) [[unlikely]]
    region_ended_slowly(outlined, subject, wall);
}
// Members of an instance that was timed in full took this long at most.
void note_longest_part(const void* outlined, base::ticks wall, base::ticks longest, std::uint32_t members) noexcept;
// A loop of it is under way under that decision.
inline void region_has_loop(std::uint64_t decision_number) noexcept {
  if (is_size_sought() && decision_number <= under_known_size && decision_number > t_forked.beside)
    t_forked.beside = decision_number;
}
// Its start must be timed.
inline bool is_start_timed() noexcept { return is_size_sought() && t_forked.has_grown; }

}  // namespace trimtab::openmp
