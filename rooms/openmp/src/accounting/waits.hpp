// Waits, locks and single: what a lane does inside a team, or outside of any, that takes no part in a loop.
#pragma once

#include "accounting/lane_state.hpp"
#include "accounting/steering_ports.hpp"

namespace trimtab::openmp {

// A wait of the calling lane, as RAII around the real call.
class wait {
 public:
  wait(observe::subject_kind kind, observe::wait_kind reason, const void* place, const char* source = nullptr) noexcept;
  ~wait();
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;

 private:
  lane_context m_context{};
  bool m_is_on;
  bool m_is_in_stretch = false;  // see task_sampling
  observe::subject_kind m_kind;
  observe::wait_kind m_why;
  const void* m_place;
  const char* m_source;
  ticks m_begin = 0;
  ticks m_credit = 0;
};
// One that is not timed. Returns the row that it went to; nullptr: none.
observe::profile_row* count_wait(const lane_context& context, observe::subject_kind kind, observe::wait_kind reason,
                                 const void* place, const char* source) noexcept;

// Static loops and reductions are no constructs that a short region must be timed for.
bool is_sampled(observe::schedule schedule_kind) noexcept;
bool is_sampled(observe::wait_kind reason) noexcept;
// Such a one is met where members are not timed.
bool is_left_to_sample(const lane_state& state, observe::schedule schedule_kind) noexcept;
bool is_left_to_sample(const lane_state& state, observe::wait_kind reason) noexcept;

// Around the real call of a barrier: a wait of the calling lane, and the end of what its team measures.
class team_barrier {
 public:
  team_barrier(const caller& from, observe::subject_kind kind, observe::wait_kind reason, const void* place,
               const char* source = nullptr) noexcept
      : m_wait(kind, reason, place, source), m_from(from) {}
  ~team_barrier() { team_barrier_passed(m_from); }
  team_barrier(const team_barrier&) = delete;
  team_barrier& operator=(const team_barrier&) = delete;

 private:
  wait m_wait;
  caller m_from;
};

// `lock`: its address, by which sections at several places are one.
void lock_entered(const lane_context& context, ticks begin, const void* lock) noexcept;
void lock_left(const lane_context& context, const void* place, observe::subject_kind kind) noexcept;
// Of omp_set_lock and its kind, in a trace: who holds each lock. A lock that another lane leaves is left out.
enum class lock_type : bool { simple, nestable };
void omp_lock_taken(const lane_context& context, const void* place, const void* lock, lock_type type) noexcept;
void omp_lock_left(const lane_context& context, const void* lock) noexcept;
void single_passed(const lane_context& context, const void* place, bool is_executed) noexcept;

}  // namespace trimtab::openmp
