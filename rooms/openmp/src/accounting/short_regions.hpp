// Short outermost regions at profile level. To time every member of a region costs more than a short region takes. So
// once a region has been short for a while, or short in the mean for a longer one, with as many members each time and no
// construct inside, its members are timed in one instance of several only: in the others the runtime gets the program's
// own function, and the forker stamps fork and join, which makes the number of instances and their wall exact.
//
// The members' times of all are estimated from those, the sample, which has rows of its own. An instance of several
// members that turns out to be longer by far than all before may have no like in it: after one all are timed for a while,
// and always while such ones make up more than 10 ms and more than a sixteenth of what was timed in full.
//
// A construct that is met in an instance without timed members is attributed to its region all the same, and ends
// this for good. Static loops and reductions are none: those of the sample stand for all, and another way to share such a
// loop out is tried in those. Once one is kept, all instances are timed (region_mode::shared_out). One forking lane of a
// process at a time, so that it is clear whose region a lane is in.
#pragma once

#include "accounting/outermost.hpp"
#include "accounting/steering_ports.hpp"

namespace trimtab::openmp {

using observe::region_flags::sample;
using observe::region_flags::untimed;
namespace region_fields = observe::region_fields;

inline constexpr std::uint32_t short_streak_needed = 64;
inline constexpr std::uint32_t mixed_streak_needed = 512;  // of regions that are short in the mean only
inline constexpr std::uint32_t short_timed_one_in = 32;
inline constexpr std::uint32_t left_alone_fewer = 4;  // times as few, where the program is steered and nothing is changed
inline constexpr std::uint32_t stamped_one_in = 8;    // where the others are only counted

// The lane that may leave members untimed.
extern std::atomic<lane_state*> short_forker;

// Once, when the clock is known.
void prepare_short_regions() noexcept;
void short_regions_after_fork() noexcept;

// After an instance that was timed in full. mean_work: of its members.
void learn_length(lane_state& forker, known_region& region, ticks wall, ticks mean_work, std::uint32_t members,
                  bool has_constructs) noexcept;

inline void add_members(observe::profile_row& row, const region_length& length) noexcept {
  row.x[region_fields::threads] += length.members;
  if (length.members > row.x[region_fields::most_threads]) row.x[region_fields::most_threads] = length.members;
}

// Whether the calling thread is in an instance whose members are not timed, and nothing is changed in it; if so, it need
// not be asked again (proven).
bool prove_untimed() noexcept;

inline void open_untimed(lane_state& state, known_region& region, region_mode mode) noexcept {
  thread_uses(region.of);
  state.requested_threads = 0;
  short_region& opened = state.short_one;
  opened.subject_1.store(region.subject + 1, std::memory_order_relaxed);
  opened.of.store(region.of, std::memory_order_relaxed);
  opened.outlined = region.outlined;
  opened.mode = mode;
  t_short_regions.is_untimed = t_short_regions.was_untimed;
  t_short_regions.is_outside = 0;
}

inline void open_counted(lane_state& state, known_region& region) noexcept {
  region.length.counted_next -= 1;
  open_untimed(state, region, region_mode::counted);
  add_members(*region.untimed_row, region.length);
  lane::count(region.untimed_row);
}

inline void open_stamped(lane_state& state, known_region& region) noexcept {
  const std::uint64_t instance = new_instance(state);
  open_untimed(state, region, region_mode::sampled);
  state.short_one.instance = instance;
  state.short_one.forked_at = base::now();
  state.owner->record(observe::event_kind::region_begin, region.subject, 1, instance, 0, state.short_one.forked_at);
}
// Where most are only counted: this one, or it is drawn what it is, and how many are counted after it.
known_region* open_counted_or_drawn(lane_state& state, known_region& region) noexcept;

// Whether the rule leaves members to the sample in the instance that begins.
inline bool has_sample(const region_rule& rule) noexcept {
  if (rule.mode < region_mode::timed) [[likely]]
    return true;
  const region_port* const port = region_port_now();
  return rule.mode == region_mode::timed && (port == nullptr || !port->is_start_timed());
}

// Begins an instance whose members are not timed. nullptr: this one is timed in full, or not a case for here; nothing
// was begun.
inline known_region* open_short_region(const void* outlined, const void* return_address) noexcept {
  lane* const own_lane = observe::t_lane;
  lane_state* const state = t_state;
  if (own_lane == nullptr || state == nullptr || state->owner != own_lane) return nullptr;
  const std::uint32_t generation = places_generation.load(std::memory_order_relaxed);
  known_region* const match = state->regions.find(outlined, [=](const known_region& candidate) {
    return candidate.outlined == outlined && candidate.generation == generation && candidate.outer_region == no_subject;
  });
  if (match == nullptr) return nullptr;
  known_region& region = *match;
  region_length& length = region.length;
  // Most are only counted, and all else was asked when that was decided.
  if (t_short_regions.is_outside == generation && length.counted_next != 0 && !region.of->has(return_address)) {
    open_counted(*state, region);
    return &region;
  }
  if (length.timed_one_in < 2 || state->innermost != nullptr || state->is_outermost_open.load(std::memory_order_relaxed) ||
      state->short_one.subject_1.load(std::memory_order_relaxed) != 0 ||
      short_forker.load(std::memory_order_relaxed) != state || region.of->has(return_address) ||
      observe::the_recorder.is_parallel())
    return nullptr;
  const region_rule rule = region.rule->load(std::memory_order_relaxed);
  if (!has_sample(rule)) return nullptr;
  // The first one is timed, the others are not in step with anything that the program does.
  if (rule.mode == region_mode::counted && length.timed_one_in > stamped_one_in && region.untimed_row != nullptr)
    return open_counted_or_drawn(*state, region);
  const std::uint64_t lot = base::mix_fast(length.asked++);
  if ((lot & (length.timed_one_in - 1u)) == 0) return nullptr;
  if (state->unaccounted.instance != 0) [[unlikely]] {
    account_joined(*state);  // which may tell otherwise
    if (length.timed_one_in < 2) return nullptr;
  }
  open_stamped(*state, region);
  return &region;
}

// One that was stamped, or has met a construct.
void close_short_region_slowly(lane_state& state, bool has_constructs) noexcept;

inline void close_short_region() noexcept {
  lane_state* const state = t_state;
  if (state == nullptr || observe::t_lane != state->owner) return;  // in the child of a fork
  short_region& ended = state->short_one;
  const bool has_constructs = ended.has_constructs.load(std::memory_order_relaxed);
  t_short_regions.is_untimed = 0;
  if (ended.mode != region_mode::counted || has_constructs) [[unlikely]]
    close_short_region_slowly(*state, has_constructs);
  else
    ended.subject_1.store(0, std::memory_order_relaxed);
  if (state->innermost == nullptr) t_short_regions.is_outside = places_generation.load(std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
