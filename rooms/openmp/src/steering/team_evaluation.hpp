// What the published policies (steer/thread_fitting/asat_*.hpp) need measured: a team of our own that does nothing for the
// program, between two of its regions, at the start of the next.
//
// A published policy decides at the start of that region. So its evaluation is complete there: a short barrier passage is
// followed by the one with more members, and the region has the size that the policy will come to from the same figures.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtimes/runtimes.hpp"

namespace trimtab::openmp {

// priority: no measurement, the members only take their lower priority. barrier, iterations: as published; the latter goes
// on at each region until one is bad. the others: variants, which measure once when asked.
enum class evaluation_kind : std::uint8_t { none, priority, barrier, iterations, asked_barrier, iterations_after_barrier };

struct evaluation {
  std::uint64_t number = 0;  // how many there were
  std::uint32_t members = 0;
  double passage_s = 0;           // barrier: last member out less first in
  std::uint32_t spread = 0;       // iterations: most less least a member
  std::uint32_t dip_members = 0;  // of the second barrier; 0: there was none
  double dip_s = 0;
};

// What is bad, and what the members' priority is. Set before the first evaluation is asked for.
struct evaluation_rules {
  double eval_time_s = 0;  // least time from one evaluation of the kind `barrier` to the next
  double bad_passage_s = 0, longest_dip_s = 0;
  double bad_spread = 0;
  std::uint32_t bad_trig = 1;  // kind `iterations`: bad evaluations in a row before the team takes a thread
  int nice = 0;                // added to that of each member but the primary thread
};
void set_evaluation_rules(const evaluation_rules& rules) noexcept;

// By the steering thread: at the next region.
void ask_for_evaluation(evaluation_kind kind) noexcept;
evaluation latest_evaluation() noexcept;
// Knobs. 0: no barrier with more members; the team's size stays after a bad evaluation. Iterations: also when fewer than
// bad_trig are bad in a row. The policy does not see each even evaluation, so it cannot withdraw its plan in time.
void set_barrier_members(std::uint32_t members) noexcept;
void set_threads_if_bad(std::uint32_t members) noexcept;

extern std::atomic<evaluation_kind> evaluation_due;
void evaluate(const caller& from, std::uint32_t own_count) noexcept;
// By the thread that forks. own: the program's own number of members, beyond which there is none.
inline void evaluate_if_due(const caller& from, std::uint32_t own_count) noexcept {
  if (evaluation_due.load(std::memory_order_acquire) != evaluation_kind::none) [[unlikely]]
    evaluate(from, own_count);
}

// Adds to the nice value of the calling thread, once. Only a privileged process can take it back.
void lower_priority_once(int nice) noexcept;
// In the child of a fork by a member: tries to take it back, which succeeds where the process may raise priorities.
void restore_priority() noexcept;

}  // namespace trimtab::openmp
