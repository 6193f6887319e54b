#include "accounting/short_regions.hpp"

#include <algorithm>
#include <bit>

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::the_recorder;

std::atomic<lane_state*> short_forker{nullptr};

namespace {

constexpr double short_below_ns = 4'000;
constexpr double long_above_ns = 16'000;      // far from both: an instance just above the former is timed soon enough
constexpr double little_timing_ns = 128'000;  // in so much time, the members of one instance may be timed
constexpr std::uint32_t weighs_half_after = 2048;
// Times the mean, in a region that is known: such an instance lost a CPU, or is of another kind.
constexpr ticks unusual = 16;
constexpr ticks most_untold = 16;  // one part in so many of a region's time
constexpr double little_untold_ns = 10'000'000;

ticks short_below = 0;
ticks long_above = 0;
ticks little_timing = 0;
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

// A power of two.
std::uint16_t timed_one_in(const region_length& length, const region_rule& rule) noexcept {
  if (length.timed_next > 0) return 1;
  const std::uint32_t fewest = rule.sample_divisor * short_timed_one_in;
  if (length.short_streak >= short_streak_needed) return static_cast<std::uint16_t>(fewest);
  if (length.streak < mixed_streak_needed || !rule.is_sampled_by_mean) return 1;
  const ticks mean = length.wall / length.streak + 1;
  const ticks affordable = rule.sample_divisor * little_timing / mean;
  return static_cast<std::uint16_t>(affordable >= fewest ? fewest : std::bit_floor(affordable));
}
std::uint16_t timed_one_in(const known_region& region) noexcept {
  return timed_one_in(region.length, region.rule->load(std::memory_order_relaxed));
}

// What the members worked in an instance of so long, as far as those tell that were timed.
ticks usual_work(const region_length& length, ticks wall) noexcept {
  const double share = length.wall == 0 ? 1 : static_cast<double>(length.work) / static_cast<double>(length.wall);
  return static_cast<ticks>(static_cast<double>(wall) * std::min(share, 1.0) * length.members);
}

// What an instance counts for in the mean. One that waited for the scheduler would weigh more than thousands.
ticks weight_of(const region_length& length, ticks wall) noexcept {
  if (length.streak < short_streak_needed) return wall;
  return std::min(wall, std::max(long_above, unusual * (length.wall / length.streak)));
}

// An instance that was stamped is over.
void take_wall(lane_state& state, known_region& region, std::uint32_t subject, ticks end) noexcept {
  region_length& length = region.length;
  const short_region& ended = state.short_one;
  const ticks wall = end - ended.forked_at;
  state.owner->record(event_kind::region_end, subject, 1, ended.instance, length.members, end);
  state.owner->count_hook(2);
  if (const region_port* const port = region_port_now(); port != nullptr) [[unlikely]]
    port->region_ended(ended.outlined, subject, wall);
  // One thread by itself waits for nobody: that it took long, because it worked or had lost its CPU, says all there is.
  const bool is_long = wall > long_above && length.members > 1;
  const bool is_unlike_others = is_long && wall / 2 > length.longest;
  // Nobody has timed its members: of one like no other nearly all is waiting for the last.
  if (const wait_port* const port = wait_port_now(); port != nullptr && length.members > 1) [[unlikely]]
    port->note_passage(state, ended.forked_at, end, length.members, is_unlike_others ? wall : usual_work(length, wall));
  if (!is_long) [[likely]]
    return;
  if (const team_port* const port = team_port_now(); port != nullptr) port->note_skew(wall);
  length.short_streak = 0;
  if (is_unlike_others) {
    length.untold += wall;
    length.timed_next = short_streak_needed;
  }
  length.timed_one_in = timed_one_in(region);
}

}  // namespace

void prepare_short_regions() noexcept {
  short_below = static_cast<ticks>(the_recorder.ticks_of_ns(short_below_ns));
  long_above = static_cast<ticks>(the_recorder.ticks_of_ns(long_above_ns));
  little_timing = static_cast<ticks>(the_recorder.ticks_of_ns(little_timing_ns));
  little_untold = static_cast<ticks>(the_recorder.ticks_of_ns(little_untold_ns));
}

void short_regions_after_fork() noexcept { short_forker.store(nullptr, std::memory_order_relaxed); }

void learn_length(lane_state& forker, known_region& region, ticks wall, ticks mean_work, std::uint32_t members,
                  bool has_constructs) noexcept {
  region_length& length = region.length;
  length.has_constructs |= has_constructs;
  const bool is_reported =
      length.untold <= little_untold || length.untold * most_untold <= sum_of(region.row) + sum_of(region.sample_row);
  if (!is_reported || length.has_constructs || members != length.members) {
    length.members = members;
    length.timed_one_in = 1;
    length.streak = length.short_streak = 0;
    length.longest = length.wall = length.work = 0;
    return;
  }
  length.short_streak = wall < short_below ? length.short_streak + 1 : 0;
  length.streak += 1;
  const ticks weight = weight_of(length, wall);
  length.wall += weight;
  length.work += weight == wall ? mean_work : std::min(mean_work, weight);
  if (wall > length.longest) length.longest = wall;
  if (length.streak == weighs_half_after) {
    length.streak /= 2;
    length.wall /= 2;
    length.work /= 2;
  }
  if (length.timed_next > 0) length.timed_next -= 1;
  const bool was_timed = length.timed_one_in < 2;
  length.timed_one_in = timed_one_in(region);
  if (was_timed && length.timed_one_in > 1) claim(forker);
}

bool prove_untimed() noexcept {
  const lane_state* const state = t_state;
  if (state == nullptr || state->owner != observe::t_lane || state->innermost != nullptr || t_steered_part.is_in_team ||
      !is_recording.load(std::memory_order_relaxed))
    return false;
  const lane_state* const forker = short_forker.load(std::memory_order_relaxed);
  if (forker == state ? state->short_one.subject_1.load(std::memory_order_relaxed) == 0
                      : forker == nullptr || !t_is_runtimes_own)
    return false;
  t_short_regions.is_untimed = t_short_regions.was_untimed = places_generation.load(std::memory_order_relaxed);
  return true;
}

known_region* open_counted_or_drawn(lane_state& state, known_region& region) noexcept {
  region_length& length = region.length;
  if (state.unaccounted.instance != 0) [[unlikely]] {
    account_joined(state);  // which may tell otherwise
    if (length.timed_one_in <= stamped_one_in) return nullptr;
  }
  if (length.counted_next > 0) {
    open_counted(state, region);
    return &region;
  }
  const std::uint64_t lot = base::mix_fast(length.asked++);
  // As many in the mean as make this one of `stamped_one_in`.
  length.counted_next = static_cast<std::uint8_t>((lot >> 32) % (2 * stamped_one_in - 1));
  if ((lot & (length.timed_one_in / stamped_one_in - 1u)) == 0) return nullptr;
  open_stamped(state, region);
  return &region;
}

void close_short_region_slowly(lane_state& state, bool has_constructs) noexcept {
  lane& forker = *state.owner;
  short_region& ended = state.short_one;
  const bool is_stamped = ended.mode == region_mode::sampled;
  const ticks end = is_stamped ? base::now() : 0;
  const std::uint32_t subject = ended.subject_1.load(std::memory_order_relaxed) - 1;
  ended.subject_1.store(0, std::memory_order_relaxed);
  known_region* region = state.regions.find(ended.outlined, [&](const known_region& candidate) {
    return candidate.outlined == ended.outlined && candidate.subject == subject && candidate.outer_region == no_subject;
  });
  known_region revived;
  // A region inside has taken its place in the table.
  if (region == nullptr) [[unlikely]] {
    revived = {};
    revived.rule = &rule_at(ended.outlined);
    region = &revived;
  }
  region_length& length = region->length;
  if (is_stamped) {
    if (region->untimed_row == nullptr) [[unlikely]]
      region->untimed_row = forker.own_row(subject, metric::region, no_subject, untimed);
    if (profile_row* const row = region->untimed_row) {
      lane::add(row, end - ended.forked_at);
      add_members(*row, length);
    }
    take_wall(state, *region, subject, end);
  }
  if (has_constructs) [[unlikely]] {
    ended.has_constructs.store(false, std::memory_order_relaxed);
    length.has_constructs = true;
    length.timed_one_in = 1;
    length.counted_next = 0;
  }
}

// Asked by every member of every instance: not of what the forker has just written, which would have to come from its cache.
bool is_in_untimed(const lane_state& state) noexcept {
  const lane_state* const forker = short_forker.load(std::memory_order_relaxed);
  if (forker == nullptr) return false;
  if (forker == &state) return forker->short_one.subject_1.load(std::memory_order_relaxed) != 0;
  return t_is_runtimes_own || (t_last_runtime != nullptr && is_in_parallel(*t_last_runtime));
}

std::uint32_t untimed_region_of(const lane_state& state) noexcept {
  short_region* const open = untimed_around(state);
  if (open == nullptr) return no_subject;
  open->has_constructs.store(true, std::memory_order_relaxed);
  return open->subject_1.load(std::memory_order_relaxed) - 1;
}

}  // namespace trimtab::openmp
