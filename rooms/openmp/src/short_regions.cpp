#include "short_regions.hpp"

#include "steering/arrival_skew.hpp"
#include "steering/region_sizes.hpp"
#include "steering/team_sizes.hpp"
#include "steering/wait_times.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::the_recorder;

std::atomic<lane_state*> short_forker{nullptr};

namespace {

constexpr double short_below_ns = 4'000;
constexpr double long_above_ns = 16'000;  // far from both: an instance just above the former is timed soon enough
constexpr ticks most_untold = 16;         // one part in so many of a region's time
constexpr double little_untold_ns = 10'000'000;

ticks short_below = 0;
ticks long_above = 0;
ticks little_untold = 0;

ticks sum_of(const profile_row* row) noexcept { return row == nullptr ? 0 : row->sum; }

// The instance that a lane is in which knows of no region; nullptr: none.
short_region* untimed_around(const lane_state& state) noexcept {
  lane_state* const forker = short_forker.load(std::memory_order_relaxed);
  if (forker == nullptr) return nullptr;
  short_region& open = forker->short_one;
  if (open.subject_1.load(std::memory_order_relaxed) == 0) return nullptr;
  // Another thread of the program's may be in a construct outside of all regions.
  if (forker != &state && !is_in_parallel(*open.of.load(std::memory_order_relaxed))) return nullptr;
  return &open;
}

void claim(lane_state& forker) noexcept {
  lane_state* holder = short_forker.load(std::memory_order_relaxed);
  if (holder == nullptr || !holder->owner->is_open())
    short_forker.compare_exchange_strong(holder, &forker, std::memory_order_relaxed);
}

}  // namespace

void prepare_short_regions() noexcept {
  short_below = static_cast<ticks>(the_recorder.ticks_of_ns(short_below_ns));
  long_above = static_cast<ticks>(the_recorder.ticks_of_ns(long_above_ns));
  little_untold = static_cast<ticks>(the_recorder.ticks_of_ns(little_untold_ns));
}

void short_regions_after_fork() noexcept { short_forker.store(nullptr, std::memory_order_relaxed); }

void learn_length(lane_state& forker, known_region& region, ticks wall, std::uint32_t members,
                  bool has_constructs) noexcept {
  region_length& known = region.length;
  known.has_constructs |= has_constructs;
  const bool is_told =
      known.untold <= little_untold || known.untold * most_untold <= sum_of(region.row) + sum_of(region.sample_row);
  const bool is_like_before = is_told && !known.has_constructs && wall < short_below && members == known.members;
  known.streak = is_like_before ? known.streak + 1 : 0;
  known.members = members;
  if (known.streak == short_streak_needed) claim(forker);
}

void close_short_region() noexcept {
  lane_state* const state = t_state;
  if (state == nullptr || observe::t_lane != state->owner) return;  // in the child of a fork
  lane& forker = *state->owner;
  short_region& ended = state->short_one;
  const ticks end = base::now();
  const ticks wall = end - ended.forked_at;
  const std::uint32_t subject = ended.subject_1.load(std::memory_order_relaxed) - 1;
  ended.subject_1.store(0, std::memory_order_relaxed);
  region_ended(ended.outlined, subject, wall);
  known_region* region = &state->regions[index_of(ended.outlined)];
  known_region again;
  // A region inside has taken its place in the table.
  if (region->outlined != ended.outlined || region->subject != subject || region->outer_region != no_subject) [[unlikely]] {
    again = {};
    region = &again;
  }
  if (region->untimed_row == nullptr) [[unlikely]]
    region->untimed_row = forker.own_row(subject, metric::region, no_subject, untimed);
  region_length& known = region->length;
  forker.record(event_kind::region_end, subject, 1, ended.instance, known.members, end);
  forker.count_hook(2);
  if (profile_row* const row = region->untimed_row) {
    lane::add(row, wall);
    row->x[0] += known.members;
    if (known.members > row->x[1]) row->x[1] = known.members;
  }
  // Nobody has timed its members: of a short one all is work, of a long one nearly all is waiting for the last.
  if (is_timing_waits.load(std::memory_order_relaxed) && known.members > 1) [[unlikely]]
    note_passage(*state, ended.forked_at, end, known.members, wall > long_above ? wall : known.members * wall);
  // One thread by itself waits for nobody: that it took long, because it worked or had lost its CPU, says all there is.
  if (wall > long_above && known.members > 1) [[unlikely]] {
    known.untold += wall;
    if (is_fitting_teams.load(std::memory_order_relaxed)) note_skew(wall);
    known.streak = 0;
  }
  if (ended.has_constructs.load(std::memory_order_relaxed)) [[unlikely]] {
    ended.has_constructs.store(false, std::memory_order_relaxed);
    known.has_constructs = true;
    known.streak = 0;
  }
}

bool is_in_untimed(const lane_state& state) noexcept { return untimed_around(state) != nullptr; }

std::uint32_t untimed_region_of(const lane_state& state) noexcept {
  short_region* const open = untimed_around(state);
  if (open == nullptr) return no_subject;
  open->has_constructs.store(true, std::memory_order_relaxed);
  return open->subject_1.load(std::memory_order_relaxed) - 1;
}

}  // namespace trimtab::openmp
