// Static loops and reductions where members are not timed and nothing is changed, which is most of what short regions
// have: the call is handed on as it is, without asking again whose it is. By the place that the hook returns to.
#pragma once

#include "accounting/short_regions.hpp"
#include "hooks/kmpc/ident.hpp"

namespace trimtab::openmp {

enum class short_call : std::uint8_t { init_4, init_4u, init_8, init_8u, fini, reduce, reduce_nowait, count };

// What the thread knows: by entry point.
struct known_calls {
  struct call {
    const void* place;  // nullptr: the entry is free
    void* function;
  };
  known_table<call, 128, 2> of[static_cast<unsigned>(short_call::count)];
  std::uint32_t generation;  // of all entries
};
inline constinit thread_local known_calls t_known_calls{};

// nullptr: the long way. As few questions as there can be; and no call is made from here, so that no register has to be
// kept.
template <short_call which, class function>
function* short_way(const void* place) noexcept {
  auto& calls = t_known_calls.of[static_cast<unsigned>(which)];
  const auto* const call =
      calls.find(place, [place](const known_calls::call& candidate) { return candidate.place == place; });
  return call != nullptr && t_short_regions.is_untimed == places_generation.load(std::memory_order_relaxed)
             ? reinterpret_cast<function*>(call->function)
             : nullptr;
}

template <short_call which, class function>
void know_way(const caller& from, const void* place, function* forward) noexcept {
  if (from.is_internal || !prove_untimed()) return;
  if (t_known_calls.generation != t_short_regions.is_untimed) {
    t_known_calls = {};
    t_known_calls.generation = t_short_regions.is_untimed;
  }
  const auto is_free = [place](const known_calls::call& candidate) {
    return candidate.place == nullptr || candidate.place == place;
  };
  t_known_calls.of[static_cast<unsigned>(which)].free_for(place, is_free) = {place, reinterpret_cast<void*>(forward)};
}

}  // namespace trimtab::openmp
