// The time that a team takes for a loop: from where a member begins it until the last member has finished it.
//
// The first thread measures. It may begin late, where another member has its CPU: then others may have done all of a dynamic
// loop before. So each member notes when it begins, in a line of its own that it writes at the loop's end anyway, and the
// earliest counts.
//
// Only a barrier of the whole team, or the join, tells the first thread that the last member has finished. A loop without a
// barrier behind it (nowait, clang's reductions) overlaps with what follows. Then nobody knows its own time, and a member
// that finishes it later only begins the next loop later. So loops up to the next barrier are measured together, as a chain:
//
//   | loop A, nowait | loop B, nowait | reduction | barrier or join
//   ^ a member begins A                           ^ first thread leaves: A and B both took this long
//
// What is saved is true of the whole chain, which is what the program waits for. A reduction that waits for some members, or
// a barrier of another team (nested, serialized, of another runtime), closes nothing.
//
// Each member of a team has one, which no other thread uses; that of number 0 measures. Nothing here allocates or blocks.
#pragma once

#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::openmp {

struct loop_site;
struct team;

// Zero bytes are a chain that is not open.
class loop_chain {
 public:
  struct loop {
    loop_site* site;
    std::uint32_t members;
    std::uint64_t under;       // the decision that its plan follows from
    std::uint64_t iterations;  // all of them, of all members
    bool is_as_written;
  };

  bool is_open() const noexcept { return m_team != nullptr; }
  bool is_open_in(const team& own_team) const noexcept { return m_team == &own_team; }
  base::ticks begin() const noexcept { return m_begin; }

  // Another member than the first is in loops of that team.
  void enter(const team& own_team) noexcept { m_team = &own_team; }
  // The first thread of that team begins a loop, and gets nothing more of it.
  void begin_loop(const team& own_team, const loop& begun, base::ticks now) noexcept;
  void end_loop(base::ticks now) noexcept {
    m_is_loop_over = true;
    m_loop_ended = now;
  }
  // All members have finished. A loop that was left before its end (cancelled) makes the chain void.
  void close(base::ticks end) noexcept;
  void drop() noexcept { m_team = nullptr; }

 private:
  struct part {
    loop_site* site;
    std::uint64_t under;
    std::uint64_t iterations;  // of all loops of that site in the chain
  };
  // Regions with more loops between two barriers are not measured.
  static constexpr std::uint32_t most_parts = 16;

  std::uint64_t decision_beside(std::uint32_t site_number) const noexcept;
  base::ticks earliest_begin() const noexcept;
  part* part_of(const loop& begun) noexcept;

  const team* m_team;
  base::ticks m_begin;       // by the first thread
  base::ticks m_not_before;  // no member can have begun earlier
  base::ticks m_loop_ended;  // the latest, for the first thread
  std::uint32_t m_members;
  std::uint64_t m_region_under;  // the decision on the region's number of members
  std::uint32_t m_further;       // instances that were not watched, and are taken to be like this one
  std::uint32_t m_loops;         // begun
  std::uint32_t m_size;
  bool m_is_void;
  bool m_is_loop_over;
  bool m_is_as_written;
  part m_parts[most_parts];
};

}  // namespace trimtab::openmp
