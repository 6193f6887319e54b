// Static loops and reductions where members are not timed and nothing is changed, which is most of what short regions
// have: the call is handed on as it is, without asking again whose it is. By the place that the hook returns to.
#pragma once

#include "kmpc_ident.hpp"
#include "short_regions.hpp"

namespace trimtab::openmp {

enum class short_call : std::uint8_t { init_4, init_4u, init_8, init_8u, fini, reduce, reduce_nowait, count };

// What the thread knows: by entry point; a place stands in one of two entries.
struct known_calls {
  struct call {
    const void* place;
    void* function;
  };
  static constexpr unsigned bits = 7;
  call of[static_cast<unsigned>(short_call::count)][(1u << bits) + 1];
  std::uint32_t generation;

  template <short_call which>
  call* first_for(const void* place) noexcept {
    constexpr std::uint32_t spreads = 0x9e3779b1;
    const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(place));
    return &of[static_cast<unsigned>(which)][(low * spreads) >> (32 - bits)];
  }
};
inline constinit thread_local known_calls t_known_calls{};

// nullptr: the long way. As few questions as there can be; and no call is made from here, so that no register has to be
// kept.
template <short_call which, class function>
function* short_way(const void* place) noexcept {
  const known_calls::call* known = t_known_calls.first_for<which>(place);
  if (known->place != place) [[unlikely]]
    known += 1;
  return known->place == place && t_proven.is_untimed == places_generation.load(std::memory_order_relaxed)
             ? reinterpret_cast<function*>(known->function)
             : nullptr;
}

template <short_call which, class function>
void know_way(const caller& from, const void* place, function* forward) noexcept {
  if (from.is_internal || !prove_untimed()) return;
  if (t_known_calls.generation != t_proven.is_untimed) {
    t_known_calls = {};
    t_known_calls.generation = t_proven.is_untimed;
  }
  known_calls::call* const first = t_known_calls.first_for<which>(place);
  const auto is_its = [place](const known_calls::call& each) { return each.place == nullptr || each.place == place; };
  first[!is_its(first[0]) && is_its(first[1]) ? 1 : 0] = {place, reinterpret_cast<void*>(forward)};
}

}  // namespace trimtab::openmp
