// Which explicit tasks are timed. Two clock reads, two for the wait inside, and the rows that they go to would cost a quick
// task a fifth of its time. So at profile level all tasks are counted, and of each kind that is quick a sample is timed:
//
//   timed    its own time is measured: without the tasks that ran inside it and without its waits
//   stamped  it runs directly inside a timed task or a timed wait, whose time it must not be part of: only its length is
//   taken counted  all others
//
// A stamped or counted task and all that runs inside it is a stretch. The waits of a stretch are counted, and how much of it
// was waiting is estimated: from the waits of the timed tasks inside (a share), and from a look at the clock every 64 tasks,
// which finds the long waits that the sample misses.
// One lane's state, used by its own thread only. Nothing here allocates or makes a system call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/clock.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::openmp {

using base::ticks;

// What a lane knows of one task function.
struct task_kind {
  const void* function;  // nullptr: not met yet
  std::uint32_t generation;
  std::uint32_t subject;
  observe::profile_row* exact_row;    // of those that stand for themselves
  observe::profile_row* sampled_row;  // of all others, timed or not
  std::uint32_t until_timed;          // the next but so many is timed
  std::uint32_t gap;                  // so many were to pass before the one that is timed next
  std::uint32_t timed;                // ever, up to `warm_up`
  std::uint32_t recent;               // this and the next: of about the last 256 that were timed
  ticks recent_ticks;
};

// A timed task's place in its kind: it stands for half of the gap before it and half of the gap behind it. One that is not
// timed stands for none.
struct task_weight {
  std::uint32_t halves = 2;
  bool is_timed() const noexcept { return halves != 0; }
  bool is_alone() const noexcept { return halves == 2; }
};

// What the innermost task of a lane is. All false: an implicit task, or one that is timed with all around it.
struct task_context {
  bool is_untimed;  // stamped or counted
  bool is_inside;   // or one around it is: in a stretch
  ticks waited;     // in the innermost timed task
};

struct task_sampling {
  static constexpr std::uint32_t warm_up = 32;           // of each kind and lane all are timed at first
  static constexpr std::uint32_t most_gap = 32;          // on the average
  static constexpr double long_ns = 4000;                // kinds whose tasks take longer are timed always
  static constexpr double worth_ns = 10'000;             // of other kinds, one task in this time
  static constexpr std::uint32_t looked_at_one_in = 64;  // tasks of a stretch
  static constexpr double quick_ns = 3000;               // what is longer, on the average of these, is a gap
  static constexpr double longest_quick_ns = quick_ns * looked_at_one_in;

  task_context now;          // of the innermost task
  std::uint32_t since_look;  // tasks of the stretch
  bool has_waits;            // since then one of the waits below was open
  std::uint32_t open_waits;  // of tasks of the stretch
  ticks looked_at;
  ticks idle_at_look;              // of the lane: what was timed by others is not divided again
  observe::profile_row* wait_row;  // of the wait that was counted last
  std::uint64_t random;
  // Of the timed tasks in stretches, with their weights: waiting and the rest. Halved from time to time.
  double waited, worked;
  // Of all timed tasks, waits and own times that were as long as a gap.
  double long_waited, long_worked;

  // Before an exact one or a stretch: the weight of the next task of this kind.
  task_weight next_weight(task_kind& kind) noexcept {
    if (kind.until_timed > 1) [[likely]] {
      kind.until_timed -= 1;
      return {0};
    }
    return draw_weight(kind);
  }
  // A timed task of that kind has ended.
  void learn(task_kind& kind, ticks own_time, ticks waits, task_weight weight) noexcept;
  // Begins a stretch.
  void begin_stretch(ticks at, ticks idle) noexcept;
  // How much of the time since the last look was waiting; looks.
  ticks waiting_until(ticks at, ticks idle) noexcept;

 private:
  task_weight draw_weight(task_kind& kind) noexcept;
  std::uint32_t draw_gap(const task_kind& kind) noexcept;
};

}  // namespace trimtab::openmp
