#include "steering/loop_chain.hpp"

#include <algorithm>

#include "steering/steered_loops.hpp"

namespace trimtab::openmp {

void loop_chain::begin_loop(const team& own_team, const loop& begun, base::ticks now) noexcept {
  if (m_team != &own_team) {
    m_team = &own_team;
    m_begin = now;
    m_not_before = std::max(own_team.forked_at, m_loop_ended);
    m_members = begun.members;
    m_region_under = t_forked.under;
    m_further = own_team.further_ones;
    m_loops = m_size = 0;
    m_is_void = false;
    m_is_as_written = true;
  } else if (!m_is_loop_over) {
    m_is_void = true;
  }
  m_loops += 1;
  m_is_loop_over = false;
  m_is_as_written = m_is_as_written && begun.is_as_written;
  if (part* const known_part = part_of(begun))
    known_part->iterations += begun.iterations;
  else
    m_is_void = true;
}

// nullptr: there is no room for another.
loop_chain::part* loop_chain::part_of(const loop& begun) noexcept {
  part* const end = m_parts + m_size;
  part* const match = std::find_if(m_parts, end, [&](const part& candidate) { return candidate.site == begun.site; });
  if (match != end) return match;
  if (m_size == most_parts) return nullptr;
  m_size += 1;
  *match = {begun.site, begun.under, 0};
  return match;
}

// The latest decision on others that changes how long the chain takes.
std::uint64_t loop_chain::decision_beside(std::uint32_t site_number) const noexcept {
  std::uint64_t latest = m_region_under;
  for (std::uint32_t i = 0; i < m_size; ++i) {
    if (i == site_number || m_parts[i].under == under_what_was_known) continue;
    if (latest == under_known_size || m_parts[i].under > latest) latest = m_parts[i].under;
  }
  return latest;
}

// What members left of other instances is older than that.
base::ticks loop_chain::earliest_begin() const noexcept {
  base::ticks earliest = m_begin;
  const member_load* const loads = m_parts[0].site->loads.load(std::memory_order_acquire);
  if (loads == nullptr) return earliest;
  for (std::uint32_t i = 1; i < std::min(m_members, loop_site::most_members); ++i) {
    // Relaxed: the barrier, or the join, was between.
    const base::ticks begun = loads[i].chain_begun.load(std::memory_order_relaxed);
    if (begun >= m_not_before && begun < earliest) earliest = begun;
  }
  return earliest;
}

void loop_chain::close(base::ticks end) noexcept {
  const bool is_sound = !m_is_void && m_is_loop_over;
  m_team = nullptr;
  if (!is_sound) return;
  const base::ticks took = end - earliest_begin();
  // Instances that were not watched ran as written: a plan on trial does not answer for them.
  const base::ticks unwatched = m_is_as_written ? took * m_further : 0;
  for (std::uint32_t i = 0; i < m_size; ++i) {
    const part& known_part = m_parts[i];
    if (m_size > 1) known_part.site->has_company.store(true, std::memory_order_relaxed);
    add_time(*known_part.site, {known_part.under, decision_beside(i), took, known_part.iterations, m_loops, unwatched});
  }
}

}  // namespace trimtab::openmp
