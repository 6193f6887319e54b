#include "steering/idle_threads.hpp"

#include <algorithm>
#include <limits>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

namespace {

std::uint32_t pool = 0;  // not known

void end_threads(const caller& from) noexcept {
  constexpr int soft = 1;
  if (auto* const pause = real<int(int)>(from, symbol::omp_pause_resource_all); pause != nullptr) pause(soft);
}

// An infinite block time is the process's, and threads look at it while they spin; what is set afterwards is a thread's.
// The change of how the library waits makes it finite, on its way back to what it was; it loses the number of threads.
void make_block_time_finite(const caller& from, void set(int)) noexcept {
  constexpr int throughput = 3;
  // Minutes; the most that the runtimes take, 2^31 us, less what they would grumble at.
  constexpr int very_long_ms = 2'000'000;
  auto* const library = real<int()>(from, symbol::kmp_get_library);
  auto* const set_library = real<void(int)>(from, symbol::kmp_set_library);
  auto* const maximum = real<int()>(from, symbol::omp_get_max_threads);
  auto* const set_most = real<void(int)>(from, symbol::omp_set_num_threads);
  if (library == nullptr || set_library == nullptr || maximum == nullptr || set_most == nullptr) return;
  const int before = library(), threads = maximum();
  set_library(throughput);
  if (before != throughput) set_library(before);
  set_most(threads);
  set(very_long_ms);
}

void put_to_sleep(const caller& from) noexcept {
  auto* const query = real<int()>(from, symbol::kmp_get_blocktime);
  auto* const set = real<void(int)>(from, symbol::kmp_set_blocktime);
  auto* const fork = real<void(void (*)(void*), void*, unsigned, unsigned)>(from, symbol::GOMP_parallel);
  if (query == nullptr || set == nullptr || fork == nullptr) return;
  if (query() == std::numeric_limits<int>::max()) make_block_time_finite(from, set);
  const int current_value = query();
  if (current_value == 0) return;
  set(0);
  fork([](void*) {}, nullptr, pool, 0);
  set(current_value);
}

}  // namespace

void pool_has(std::uint32_t members) noexcept { pool = members; }

void shrink_pool(const caller& from, std::uint32_t members, std::uint32_t own_count) noexcept {
  // Regions may have been forked before their sizes were looked at: each of their members has a lane.
  if (pool == 0) pool = std::min(observe::the_recorder.lanes(), own_count);
  if (members >= pool) return;
  if (from.of->family == runtime_family::llvm)
    put_to_sleep(from);
  else if (members == 1)
    end_threads(from);
}

}  // namespace trimtab::openmp
