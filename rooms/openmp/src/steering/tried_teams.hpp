// Regions with other numbers of members for a moment, to see whether they take less time
// (steer/thread_fitting/team_trial.hpp). Where the program relies on a number that it was told, only if it asks before each
// region, and so is told of these, too.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::openmp {

struct tried_team {
  std::uint64_t number = 0;  // how many trials are over
  double ratio = 0;          // of the latest
};

// By the steering thread. members: of the next regions, in turn with as many as they have; 0: a trial under way ends.
void try_members(std::uint32_t members) noexcept;
tried_team latest_trial() noexcept;

extern std::atomic<std::uint32_t> members_to_try;
std::uint32_t tried_members_slowly(std::uint32_t own_count) noexcept;
// By the thread that forks first, after team_sizes::fork. own: beyond which there is none. 0: no trial, members as they are.
inline std::uint32_t tried_members(std::uint32_t own_count) noexcept {
  return members_to_try.load(std::memory_order_acquire) == 0 ? 0 : tried_members_slowly(own_count);
}

// What a program that asks now is told for the next region; 0: nothing is on trial.
extern std::atomic<std::uint32_t> members_tried_next;
inline std::uint32_t told_on_trial() noexcept {
  return members_to_try.load(std::memory_order_acquire) == 0 ? 0 : members_tried_next.load(std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
