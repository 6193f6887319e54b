// Static loops and reductions where members are not timed and nothing is changed, which is most of what short regions
// have: the call is handed on as it is, without asking again whose it is. By the place that the hook returns to.
#pragma once

#include <iterator>

#include "kmpc_ident.hpp"
#include "short_regions.hpp"

namespace trimtab::openmp {

struct known_call {
  const void* place;
  void* function;
  std::uint32_t generation;
  symbol which;  // two calls have one place where compilers made them jumps
};
inline constinit thread_local known_call t_known_calls[8] = {};

inline known_call& known_call_at(const void* place) noexcept {
  return t_known_calls[base::mix_fast(reinterpret_cast<std::uintptr_t>(place)) % std::size(t_known_calls)];
}

// nullptr: the long way. Asks nobody: no call is made from here, so that no register has to be kept.
template <class function>
function* short_way(symbol which, const void* place) noexcept {
  const known_call& known = known_call_at(place);
  const lane_state* const state = t_state;
  if (known.place != place || known.which != which || state == nullptr || state->owner != observe::t_lane ||
      state->innermost != nullptr || t_steered.of != nullptr || t_steered.site != nullptr ||
      !is_recording.load(std::memory_order_relaxed) || known.generation != places_generation.load(std::memory_order_relaxed))
    return nullptr;
  const lane_state* const forker = short_forker.load(std::memory_order_relaxed);
  const bool is_untimed = forker == state ? state->short_one.subject_1.load(std::memory_order_relaxed) != 0
                                          : forker != nullptr && t_is_runtimes_own;
  return is_untimed ? reinterpret_cast<function*>(known.function) : nullptr;
}

template <class function>
void know_way(const caller& from, symbol which, const void* place, function* forward) noexcept {
  if (from.is_internal || t_state == nullptr || t_state->innermost != nullptr) return;
  known_call_at(place) = {place, reinterpret_cast<void*>(forward), places_generation.load(std::memory_order_relaxed), which};
}

}  // namespace trimtab::openmp
