// Adaptive weighted factoring (Banicescu, Velusamy 2002): a member takes the more of each batch the faster it was, so its
// chunks do not follow from tickets' numbers. Members claim them from a word of their team; the runtime is given a loop of
// as many tickets as members, which each of them goes through when nothing is left to claim: so it begins and ends its loop
// as ever.
//
// The word is the number of the team's loop that was claimed from last, and how much of it is claimed. A member goes to the
// next loop only when nothing is left of the one before: so a member that finds a later loop's number has nothing more to
// claim, and one word serves all loops of a region, also those without a barrier between them.
//
// Weights need not be agreed on. A member's is its rate over the mean of all, in iterations a tick: its own from its
// executions before (those count less and less) and its chunks so far, the others' as it was when the loop began.
#pragma once

#include "steering/steered_loops.hpp"

namespace trimtab::openmp {

inline constexpr std::uint64_t longest_claimed_trip = std::uint64_t{1} << 40;

// The thread's loop begins, or the fork has begun it.
void begin_claims(steered_thread& self) noexcept;
// The next chunk, in iteration numbers [begin, end). False: nothing is left.
bool claim_chunk(steered_thread& self, std::uint64_t& begin, std::uint64_t& end) noexcept;

// As the runtime's own next: takes a chunk, or goes through what is left of the tickets. next_ticket: false when there are
// no more; not called again then.
template <class taken, class next>
bool next_claimed(steered_thread& self, taken access, next next_ticket) {
  std::uint64_t begin = 0, end = 0;
  if (claim_chunk(self, begin, end)) {
    access(begin, end);
    return true;
  }
  while (!self.are_tickets_over) self.are_tickets_over = !next_ticket();
  return false;
}

}  // namespace trimtab::openmp
