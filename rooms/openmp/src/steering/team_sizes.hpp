// How many members the program's teams get, where the user consents to fewer than the program itself would have.
//
// Programs rely on what they are told: they size arrays by omp_get_max_threads() and read all of them. So:
// - What an ask returned is the size that regions get from then on, until it is asked again. What is returned then may be
//   less: fewer members are shown before there are any.
// - Only the place of the code that asked first may be told something new, once all others have asked twice: one that asks
//   only once may have sized something for good. And never more than any place was told at first.
// - Never more members than the program's own number. A num_threads clause stays; after omp_set_num_threads all does. With
//   the stronger consent (include_fixed) both are the program's own number like any other.
// - Only regions of nesting level 1, of the first thread that forks. When another one forks as well, all stays from then on
//   as the program was told.
// - Some regions may have another number for a moment (tried_teams.hpp), where nothing was told, or before each of them.
// A program that asks nobody (or within a region, as GCC's static loops do themselves) has been consented for.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtimes/runtimes.hpp"
#include "steering/recording_ports.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::openmp {

// The rules, without a runtime. Forks and asks on the program's threads, what the program requests on the steering thread.
class team_sizes {
 public:
  static constexpr std::uint32_t as_it_is = 0;  // members: as many as the program would have

  // Who forks or asks: any name of its thread, not 0, and its runtime.
  struct who {
    std::uintptr_t thread;
    const void* runtime;
  };
  // Before the first fork: clauses and omp_set_num_threads do not stay. least_own_count: a number that may be wanted anyway,
  // so that a clause may be brought down to it whatever the first region has.
  void include_fixed(std::uint32_t least_own_count) noexcept;
  bool includes_fixed() const noexcept { return m_least_own.load(std::memory_order_relaxed) != 0; }

  // A region of level 1 without a clause that stays begins; `own_count`: the program's own number. Members that it is to
  // have; `wanted`: where it has a number of its own.
  std::uint32_t fork(const who& forker, std::uint32_t own_count, std::uint32_t wanted = as_it_is) noexcept;
  // The program asks for the number of threads at a place of its code. What it is told. on_trial: in place of what is
  // wanted.
  std::uint32_t ask(const who& forker, const void* place, std::uint32_t own_count, bool is_in_region,
                    std::uint32_t on_trial = as_it_is) noexcept;
  // It sets the number itself.
  void set() noexcept;

  // Members that regions should have, where that may be changed.
  void want(std::uint32_t members) noexcept { m_wanted.store(members, std::memory_order_relaxed); }
  enum class state : std::uint8_t { unknown, free, set_by_program, several_forkers };
  state now() const noexcept { return m_state.load(std::memory_order_acquire); }
  std::uint32_t own() const noexcept { return m_own.load(std::memory_order_relaxed); }  // once it is free: the most to want
  // What the latest region was held to; own() where to nothing.
  std::uint32_t latest() const noexcept { return m_latest.load(std::memory_order_relaxed); }
  std::uint32_t forks() const noexcept { return m_forks.load(std::memory_order_relaxed); }
  bool is_promised() const noexcept { return m_promised.load(std::memory_order_relaxed) != nothing; }
  // How often the program asked where it may be told something new.
  std::uint32_t tellings() const noexcept { return m_tellings.load(std::memory_order_relaxed); }
  bool is_first_forker(const who& forker) const noexcept;
  // In the child of a fork: nothing changes any more. False: then nothing need be seen to, either.
  bool leave_as_told() noexcept;

 private:
  static constexpr std::uint32_t nothing = 0, all = ~0u;  // of m_promised; else the number that was told
  static constexpr std::uint32_t most_places = 32;
  struct asker {
    const void* place;
    std::uint32_t first_told;
    std::uint32_t asks;
  };
  asker* asker_at(const void* place) noexcept;
  bool may_tell_anew(const asker* place_entry) const noexcept;

  std::atomic<state> m_state{state::unknown};
  std::atomic<std::uint32_t> m_wanted{as_it_is}, m_promised{nothing}, m_own{0}, m_latest{0}, m_forks{0}, m_least_own{0},
      m_tellings{0};
  std::atomic<std::uintptr_t> m_thread{0};
  std::atomic<const void*> m_runtime{nullptr};
  base::spin_lock m_lock;  // of the following
  asker m_askers[most_places] = {};
  std::uint32_t m_askers_used = 0;
  bool m_has_many_askers = false;
};

extern team_sizes the_team_sizes;
inline team_sizes::who this_thread_of(const caller& from) noexcept {
  return {reinterpret_cast<std::uintptr_t>(&t_last_runtime), from.of};
}
// The user consents. Without, no hook does more than look at this.
extern steering_switch is_fitting_teams;

// The clause that a fork of this function is to be given in place of the program's.
std::uint32_t fit_clause_slowly(const caller& from, const void* outlined, std::uint32_t clause) noexcept;

}  // namespace trimtab::openmp
