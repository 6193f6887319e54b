#include "steering/team_sizes.hpp"

#include <algorithm>
#include <mutex>

#include "steering/first_share.hpp"
#include "steering/idle_threads.hpp"
#include "steering/region_sizes.hpp"
#include "steering/team_evaluation.hpp"
#include "steering/tried_teams.hpp"

namespace trimtab::openmp {

team_sizes the_team_sizes;
constinit steering_switch is_fitting_teams;

bool team_sizes::is_first_forker(const who& forker) const noexcept {
  return m_thread.load(std::memory_order_acquire) == forker.thread &&
         m_runtime.load(std::memory_order_relaxed) == forker.runtime;
}

void team_sizes::include_fixed(std::uint32_t least_own_count) noexcept {
  m_least_own.store(std::max(least_own_count, 1u), std::memory_order_relaxed);
}

std::uint32_t team_sizes::fork(const who& forker, std::uint32_t own_count, std::uint32_t wanted) noexcept {
  std::uintptr_t nobody = 0;
  if (m_thread.load(std::memory_order_relaxed) == 0 && now() == state::unknown) {
    m_runtime.store(forker.runtime, std::memory_order_relaxed);
    m_own.store(std::max(own_count, m_least_own.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    if (m_thread.compare_exchange_strong(nobody, forker.thread, std::memory_order_acq_rel))
      m_state.store(state::free, std::memory_order_release);
  }
  state expected = state::free;
  if (!is_first_forker(forker)) m_state.compare_exchange_strong(expected, state::several_forkers, std::memory_order_acq_rel);
  std::uint32_t members = m_promised.load(std::memory_order_relaxed);
  if (members == nothing && now() == state::free)
    members = wanted != as_it_is ? wanted : m_wanted.load(std::memory_order_relaxed);
  const std::uint32_t largest = this->own();
  m_latest.store(members == nothing ? largest : std::min(members, largest), std::memory_order_relaxed);
  if (members == nothing || members >= own_count) members = as_it_is;
  // Not a locked instruction, which would wait for all stores before it: it only shows that there are forks, about how many.
  m_forks.store(m_forks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return members;
}

// nullptr: there are too many.
team_sizes::asker* team_sizes::asker_at(const void* place) noexcept {
  asker* const end = m_askers + m_askers_used;
  asker* const match = std::find_if(m_askers, end, [&](const asker& candidate) { return candidate.place == place; });
  if (match != end) return match;
  if (m_askers_used == most_places) return nullptr;
  m_askers_used += 1;
  *match = {place, 0, 0};
  return match;
}

bool team_sizes::may_tell_anew(const asker* place_entry) const noexcept {
  return place_entry == m_askers && !m_has_many_askers &&
         std::all_of(m_askers + 1, m_askers + m_askers_used, [](const asker& candidate) { return candidate.asks > 1; });
}

std::uint32_t team_sizes::ask(const who& forker, const void* place, std::uint32_t own_count, bool is_in_region,
                              std::uint32_t on_trial) noexcept {
  const std::lock_guard guard(m_lock);
  asker* const place_entry = asker_at(place);
  m_has_many_askers |= place_entry == nullptr;
  const bool is_free = now() == state::free && !is_in_region && is_first_forker(forker);
  const std::uint32_t promised = m_promised.load(std::memory_order_relaxed);
  std::uint32_t reported = own_count;
  if (promised != nothing && !(is_free && may_tell_anew(place_entry))) {
    reported = std::min(promised, own_count);
  } else if (is_free) {
    const std::uint32_t wanted = on_trial != as_it_is ? on_trial : m_wanted.load(std::memory_order_relaxed);
    if (wanted != as_it_is) reported = std::min(wanted, own_count);
    m_tellings.store(m_tellings.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    for (const asker* candidate = m_askers; candidate != m_askers + m_askers_used; ++candidate)
      if (candidate->asks > 0) reported = std::min(reported, candidate->first_told);
  }
  if (place_entry != nullptr && place_entry->asks++ == 0) place_entry->first_told = reported;
  m_promised.store(reported >= own_count ? all : reported, std::memory_order_relaxed);
  return reported;
}

void team_sizes::set() noexcept {
  if (includes_fixed()) return;
  m_state.store(state::set_by_program, std::memory_order_release);
  m_promised.store(all, std::memory_order_relaxed);
}

bool team_sizes::leave_as_told() noexcept {
  m_lock.reset();
  m_wanted.store(as_it_is, std::memory_order_relaxed);
  m_state.store(state::several_forkers, std::memory_order_relaxed);
  const std::uint32_t promised = m_promised.load(std::memory_order_relaxed);
  return promised != nothing && promised != all;
}

namespace {

// One number for all regions.
std::uint32_t fit_all(const caller& from, std::uint32_t clause, std::uint32_t own_count) noexcept {
  const team_sizes::who forker = this_thread_of(from);
  if (the_team_sizes.now() == team_sizes::state::unknown) take_first_share(own_count);
  const bool is_first = the_team_sizes.is_first_forker(forker);
  if (is_first) evaluate_if_due(from, own_count);
  const std::uint32_t members = the_team_sizes.fork(forker, own_count);
  if (!is_first) return members == team_sizes::as_it_is ? clause : members;
  if (const std::uint32_t tried = tried_members(own_count); tried != 0) return tried;
  if (members != team_sizes::as_it_is) shrink_pool(from, members, own_count);
  pool_has(members == team_sizes::as_it_is ? own_count : members);
  return members == team_sizes::as_it_is ? clause : members;
}

}  // namespace

std::uint32_t fit_clause_slowly(const caller& from, const void* outlined, std::uint32_t clause) noexcept {
  const bool is_fixed = clause != 0 && !the_team_sizes.includes_fixed();
  const bool are_apart = are_regions_fitted.load(std::memory_order_relaxed);
  if (from.is_internal || (is_fixed && !are_apart)) return clause;
  auto* const level = real<int()>(from, symbol::omp_get_level);
  auto* const maximum = real<int()>(from, symbol::omp_get_max_threads);
  if (level == nullptr || maximum == nullptr || level() != 0) return clause;
  const std::uint32_t own_count =
      clause != 0 ? std::min(clause, 1u << 16) : static_cast<std::uint32_t>(std::max(maximum(), 1));
  if (are_apart && (is_fixed || own_count < 2)) fork_fixed(the_team_sizes, this_thread_of(from), own_count);
  if (is_fixed || own_count < 2) return clause;
  if (!are_apart) return fit_all(from, clause, own_count);
  const std::uint32_t members = fork_fitted(the_team_sizes, this_thread_of(from), outlined, own_count);
  return members == team_sizes::as_it_is ? clause : members;
}

}  // namespace trimtab::openmp
