// Hooks of what a program asks and says about its number of threads; Fortran's names end in an underscore.
#include <algorithm>

#include "hooks/hook.hpp"
#include "steering/team_sizes.hpp"
#include "steering/tried_teams.hpp"

namespace trimtab::openmp {
namespace {

using ask_function = int();

// What the program would be told is `own`; what it is told.
std::uint32_t tell_threads(const caller& from, const void* place, int own_count) noexcept {
  auto* const level = real<ask_function>(from, symbol::omp_get_level);
  const auto largest = static_cast<std::uint32_t>(own_count);
  return the_team_sizes.ask(this_thread_of(from), place, largest, level == nullptr || level() != 0, told_on_trial());
}

int max_threads(const void* return_address) noexcept {
  const caller from = caller_at(return_address, entry::omp);
  auto* const forward = real<ask_function>(from, symbol::omp_get_max_threads);
  const int own_number = forward == nullptr ? 1 : forward();
  if (!is_fitting_teams.load(std::memory_order_relaxed) || from.is_internal || own_number < 1) return own_number;
  return static_cast<int>(tell_threads(from, return_address, own_number));
}

// Programs size by this, too: they are told fewer where they get fewer threads.
int num_procs(const void* return_address) noexcept {
  const caller from = caller_at(return_address, entry::omp);
  auto* const forward = real<ask_function>(from, symbol::omp_get_num_procs);
  auto* const function = real<ask_function>(from, symbol::omp_get_max_threads);
  const int procs = forward == nullptr ? 1 : forward();
  if (!is_fitting_teams.load(std::memory_order_relaxed) || from.is_internal || function == nullptr) return procs;
  const int own_number = function();
  if (own_number < 1) return procs;
  const int reported = static_cast<int>(tell_threads(from, return_address, own_number));
  return reported < own_number ? std::min(procs, reported) : procs;
}

void set_threads(const void* return_address, int threads) noexcept {
  const caller from = caller_at(return_address, entry::omp);
  if (!from.is_internal && is_fitting_teams.load(std::memory_order_relaxed)) the_team_sizes.set();
  if (auto* const forward = real<void(int)>(from, symbol::omp_set_num_threads)) forward(threads);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK int omp_get_max_threads() { return max_threads(__builtin_return_address(0)); }
TRIMTAB_HOOK int omp_get_max_threads_() { return max_threads(__builtin_return_address(0)); }
TRIMTAB_HOOK int omp_get_num_procs() { return num_procs(__builtin_return_address(0)); }
TRIMTAB_HOOK int omp_get_num_procs_() { return num_procs(__builtin_return_address(0)); }
TRIMTAB_HOOK void omp_set_num_threads(int threads) { set_threads(__builtin_return_address(0), threads); }
TRIMTAB_HOOK void omp_set_num_threads_(const std::int32_t* threads) { set_threads(__builtin_return_address(0), *threads); }
TRIMTAB_HOOK void omp_set_num_threads_8_(const std::int64_t* threads) {
  set_threads(__builtin_return_address(0), static_cast<int>(*threads));
}
