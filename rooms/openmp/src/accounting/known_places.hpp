// What a lane has found out before about regions and about the places of constructs, so that it need not ask again.
#pragma once

#include <atomic>

#include "accounting/known_table.hpp"
#include "accounting/team.hpp"

namespace trimtab::openmp {

// The short region under way that this lane has forked, whose members are not timed (short_regions.hpp). What is atomic
// other lanes read when they meet a construct and know of no region that they are in.
struct short_region {
  std::atomic<std::uint32_t> subject_1;  // + 1; 0: none is under way
  std::atomic<bool> has_constructs;
  std::atomic<runtime*> of;
  const void* outlined;
  region_mode mode;        // counted or sampled
  std::uint64_t instance;  // this and the next: of one that is sampled
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
  const shared_rule* rule;
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

}  // namespace trimtab::openmp
