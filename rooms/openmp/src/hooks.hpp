// What every hook file needs: the visibility of a hook, and who called it.
#pragma once

#include "team.hpp"

#define TRIMTAB_HOOK extern "C" __attribute__((visibility("default")))
#define TRIMTAB_CALLER caller_at(__builtin_return_address(0))
#define TRIMTAB_PLACE place_of_call(__builtin_return_address(0))

namespace trimtab::openmp {

// The calling thread's number in its team, as the runtime has it.
inline std::uint32_t thread_number(const caller& from) noexcept {
  auto* const ask = real<int()>(from, symbol::omp_get_thread_num);
  const int number = ask == nullptr ? 0 : ask();
  return number < 0 ? 0u : static_cast<std::uint32_t>(number);
}

// An upper bound of the next team's size: the clause if there is one, and what the runtime would take otherwise.
inline std::uint32_t most_threads(const caller& from, std::uint32_t clause) noexcept {
  auto* const ask = real<int()>(from, symbol::omp_get_max_threads);
  const int most = ask == nullptr ? 1 : ask();
  const auto standard = most < 1 ? 1u : static_cast<std::uint32_t>(most);
  return clause > standard ? clause : standard;
}

}  // namespace trimtab::openmp
