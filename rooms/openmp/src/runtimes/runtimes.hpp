// The OpenMP runtimes of this process, and which of them a given caller would have called without us.
// A process may hold several (a system libgomp, a wheel's renamed copy, libomp): each loaded object keeps
// talking to the one that its own dependencies name.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace trimtab::openmp {

// Every function that hooks call in the real runtime.
// clang-format off
#define TRIMTAB_OPENMP_SYMBOLS(X)                                                                                    \
  X(GOMP_parallel) X(GOMP_parallel_reductions) X(GOMP_parallel_sections) X(GOMP_parallel_loop_static)                \
  X(GOMP_parallel_loop_dynamic) X(GOMP_parallel_loop_guided) X(GOMP_parallel_loop_runtime)                           \
  X(GOMP_parallel_loop_nonmonotonic_dynamic) X(GOMP_parallel_loop_nonmonotonic_guided)                               \
  X(GOMP_parallel_loop_nonmonotonic_runtime) X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)                        \
  X(GOMP_loop_static_start) X(GOMP_loop_dynamic_start) X(GOMP_loop_guided_start) X(GOMP_loop_runtime_start)          \
  X(GOMP_loop_nonmonotonic_dynamic_start) X(GOMP_loop_nonmonotonic_guided_start)                                     \
  X(GOMP_loop_nonmonotonic_runtime_start) X(GOMP_loop_maybe_nonmonotonic_runtime_start) X(GOMP_loop_start)           \
  X(GOMP_loop_static_next) X(GOMP_loop_dynamic_next) X(GOMP_loop_guided_next) X(GOMP_loop_runtime_next)              \
  X(GOMP_loop_nonmonotonic_dynamic_next) X(GOMP_loop_nonmonotonic_guided_next)                                       \
  X(GOMP_loop_nonmonotonic_runtime_next) X(GOMP_loop_maybe_nonmonotonic_runtime_next)                                \
  X(GOMP_loop_ordered_static_start) X(GOMP_loop_ordered_dynamic_start) X(GOMP_loop_ordered_guided_start)             \
  X(GOMP_loop_ordered_runtime_start) X(GOMP_loop_ordered_static_next) X(GOMP_loop_ordered_dynamic_next)              \
  X(GOMP_loop_ordered_guided_next) X(GOMP_loop_ordered_runtime_next)                                                 \
  X(GOMP_loop_ull_static_start) X(GOMP_loop_ull_dynamic_start) X(GOMP_loop_ull_guided_start)                         \
  X(GOMP_loop_ull_runtime_start) X(GOMP_loop_ull_nonmonotonic_dynamic_start)                                         \
  X(GOMP_loop_ull_nonmonotonic_guided_start) X(GOMP_loop_ull_nonmonotonic_runtime_start)                             \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start) X(GOMP_loop_ull_static_next) X(GOMP_loop_ull_dynamic_next)       \
  X(GOMP_loop_ull_guided_next) X(GOMP_loop_ull_runtime_next) X(GOMP_loop_ull_nonmonotonic_dynamic_next)              \
  X(GOMP_loop_ull_nonmonotonic_guided_next) X(GOMP_loop_ull_nonmonotonic_runtime_next)                               \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next) X(GOMP_loop_end) X(GOMP_loop_end_nowait) X(GOMP_loop_end_cancel)  \
  X(GOMP_sections_start) X(GOMP_sections_next) X(GOMP_sections_end) X(GOMP_sections_end_nowait) X(GOMP_barrier)      \
  X(GOMP_barrier_cancel) X(GOMP_critical_start) X(GOMP_critical_end) X(GOMP_critical_name_start)                     \
  X(GOMP_critical_name_end) X(GOMP_ordered_start) X(GOMP_ordered_end) X(GOMP_single_start)                           \
  X(GOMP_single_copy_start) X(GOMP_single_copy_end) X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull)               \
  X(GOMP_parallel_start) X(GOMP_parallel_end) X(GOMP_parallel_sections_start) X(GOMP_parallel_loop_static_start)     \
  X(GOMP_parallel_loop_dynamic_start) X(GOMP_parallel_loop_guided_start) X(GOMP_parallel_loop_runtime_start)         \
  X(GOMP_loop_ordered_start) X(GOMP_loop_ull_start) X(GOMP_loop_ull_ordered_start)                                   \
  X(GOMP_loop_ull_ordered_static_start) X(GOMP_loop_ull_ordered_dynamic_start) X(GOMP_loop_ull_ordered_guided_start) \
  X(GOMP_loop_ull_ordered_runtime_start) X(GOMP_loop_ull_ordered_static_next) X(GOMP_loop_ull_ordered_dynamic_next)  \
  X(GOMP_loop_ull_ordered_guided_next) X(GOMP_loop_ull_ordered_runtime_next) X(GOMP_loop_doacross_static_start)      \
  X(GOMP_loop_doacross_dynamic_start) X(GOMP_loop_doacross_guided_start) X(GOMP_loop_doacross_runtime_start)         \
  X(GOMP_loop_doacross_start) X(GOMP_loop_ull_doacross_static_start) X(GOMP_loop_ull_doacross_dynamic_start)         \
  X(GOMP_loop_ull_doacross_guided_start) X(GOMP_loop_ull_doacross_runtime_start) X(GOMP_loop_ull_doacross_start)     \
  X(GOMP_doacross_wait) X(GOMP_doacross_ull_wait) X(GOMP_sections2_start) X(GOMP_atomic_start) X(GOMP_atomic_end)    \
  X(GOMP_workshare_task_reduction_unregister)                                                                        \
  X(GOMP_taskwait) X(GOMP_taskwait_depend) X(GOMP_taskgroup_end) X(__kmpc_fork_call) X(__kmpc_fork_call_if)          \
  X(__kmpc_serialized_parallel) X(__kmpc_end_serialized_parallel) X(__kmpc_push_num_threads) X(__kmpc_barrier)       \
  X(__kmpc_cancel_barrier) X(__kmpc_for_static_init_4) X(__kmpc_for_static_init_4u) X(__kmpc_for_static_init_8)      \
  X(__kmpc_for_static_init_8u) X(__kmpc_for_static_fini) X(__kmpc_dispatch_init_4) X(__kmpc_dispatch_init_4u)        \
  X(__kmpc_dispatch_init_8) X(__kmpc_dispatch_init_8u) X(__kmpc_dispatch_next_4) X(__kmpc_dispatch_next_4u)          \
  X(__kmpc_dispatch_next_8) X(__kmpc_dispatch_next_8u) X(__kmpc_critical) X(__kmpc_critical_with_hint)               \
  X(__kmpc_end_critical) X(__kmpc_single) X(__kmpc_end_single) X(__kmpc_copyprivate) X(__kmpc_ordered)               \
  X(__kmpc_reduce) X(__kmpc_omp_taskwait) X(__kmpc_end_taskgroup) X(__kmpc_taskloop) X(__kmpc_taskloop_5)            \
  X(__kmpc_reduce_nowait) X(__kmpc_end_reduce) X(__kmpc_doacross_wait) X(__kmpc_doacross_init) X(__kmpc_doacross_fini) \
  X(__kmpc_copyprivate_light) X(__kmpc_omp_task_begin_if0) X(__kmpc_omp_task_complete_if0) X(__kmpc_omp_wait_deps)   \
  X(__kmpc_omp_taskwait_deps_51) X(__kmpc_fork_teams) X(__kmpc_push_num_teams) X(__kmpc_push_num_teams_51)           \
  X(__kmpc_dist_for_static_init_4) X(__kmpc_dist_for_static_init_4u) X(__kmpc_dist_for_static_init_8)                \
  X(__kmpc_dist_for_static_init_8u) X(__kmpc_dist_dispatch_init_4) X(__kmpc_dist_dispatch_init_4u)                   \
  X(__kmpc_dist_dispatch_init_8) X(__kmpc_dist_dispatch_init_8u) X(omp_get_team_num) X(omp_get_max_teams)            \
  X(__kmpc_omp_task_alloc) X(omp_get_thread_num) X(omp_get_num_threads) X(omp_get_max_threads) X(omp_in_parallel)    \
  X(omp_set_lock) X(omp_test_lock) X(omp_set_nest_lock) X(omp_test_nest_lock) X(omp_unset_lock) X(omp_unset_nest_lock)   \
  X(omp_set_lock_) X(omp_test_lock_) X(omp_set_nest_lock_) X(omp_test_nest_lock_) X(omp_unset_lock_) X(omp_unset_nest_lock_) \
  X(omp_get_level) X(omp_get_num_procs) X(omp_set_num_threads)                                                        \
  X(__kmpc_global_thread_num) X(kmp_get_blocktime) X(kmp_set_blocktime) X(kmp_get_library) X(kmp_set_library) \
  X(omp_pause_resource_all)
// clang-format on

enum class symbol : unsigned {
#define TRIMTAB_ONE(name) name,
  TRIMTAB_OPENMP_SYMBOLS(TRIMTAB_ONE)
#undef TRIMTAB_ONE
      count
};

enum class runtime_family : std::uint8_t { gomp, llvm };

// One loaded runtime, with all its functions. Static storage, complete before it is published.
struct runtime {
  std::uintptr_t begin = 0, end = 0;  // addresses of its object
  char path[512] = {};
  runtime_family family = runtime_family::gomp;
  std::atomic<std::uint16_t> id{0};  // in the run's names; 0: not told yet
  void* functions[static_cast<unsigned>(symbol::count)] = {};

  bool has(const void* address) const noexcept { return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin; }

  void take(const runtime& other) noexcept {
    begin = other.begin;
    end = other.end;
    family = other.family;
    std::memcpy(path, other.path, sizeof path);
    std::memcpy(functions, other.functions, sizeof functions);
  }
};

// What GCC's code gives to its runtime: the body of a region or task.
using gomp_function = void (*)(void*);

// Entry points come in families, and one object may reach each in another runtime (code of two compilers in it).
enum class entry : std::uint8_t { gomp, kmpc, omp };
inline constexpr unsigned entries = 3;

// Who called a hook: its runtime (nullptr: none can be found), and whether the runtime called itself.
struct caller {
  runtime* of;
  bool is_internal;
};

// By an address that surely lies in the calling object: the outlined function, or the source record that
// clang passes along. Lock-free for objects seen before.
// A call that returns into the runtime itself is one of its own, whatever it passes along.
caller caller_of(const void* own_address, const void* return_address, entry entry_by) noexcept;

// By the address that the hook returns to, for entry points that pass nothing along. Compilers turn a last call
// into a jump, and then this is an address of the caller's caller: when that is we ourselves (we call the
// outlined function), or an object that reaches no runtime at all, the runtime is the one of the team that
// this thread works for, or else the one that it used last.
caller caller_at(const void* return_address, entry entry_by) noexcept;

// The return address if it says where in the program the call stands; otherwise nullptr (see caller_at).
const void* place_of_call(const void* return_address) noexcept;

// What caller_at falls back to on this thread.
extern constinit thread_local runtime* t_last_runtime;
inline void thread_uses(runtime* library) noexcept { t_last_runtime = library; }

// Whether the calling thread, which has just come through a hook, is in an active region of that runtime.
bool is_in_parallel(const runtime& library) noexcept;

// The runtime's own function; nullptr when it has none of that name.
template <class function>
function* real(const caller& from, symbol name) noexcept {
  if (from.of == nullptr) return nullptr;
  return reinterpret_cast<function*>(from.of->functions[static_cast<unsigned>(name)]);
}

// The calling thread's number in its team, as the runtime has it.
inline std::uint32_t thread_number(const caller& from) noexcept {
  auto* const query = real<int()>(from, symbol::omp_get_thread_num);
  const int number = query == nullptr ? 0 : query();
  return number < 0 ? 0u : static_cast<std::uint32_t>(number);
}

// An upper bound of the next team's size: the clause if there is one, and what the runtime would take otherwise.
inline std::uint32_t most_threads(const caller& from, std::uint32_t clause) noexcept {
  auto* const query = real<int()>(from, symbol::omp_get_max_threads);
  const int limit = query == nullptr ? 1 : query();
  const auto standard = limit < 1 ? 1u : static_cast<std::uint32_t>(limit);
  return clause > standard ? clause : standard;
}

// The runtime's number in the run, telling the recorder of it at first.
std::uint16_t runtime_id(runtime& library) noexcept;

// Rises when an object is unloaded: what was known of its addresses holds no longer.
extern std::atomic<std::uint32_t> places_generation;

// After dlclose: addresses of an object that is gone may come to belong to another.
void forget_unloaded() noexcept;
void runtimes_after_fork() noexcept;

// True when an OpenMP runtime is loaded at all (for "loaded, but no region was seen").
bool is_any_runtime_loaded() noexcept;

}  // namespace trimtab::openmp
