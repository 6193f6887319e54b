// Explicit tasks without touching their data: a fixed set of functions, each bound at first sight to one task
// function of the program, which it calls between two stamps. A program has few task functions; beyond the
// set, tasks are counted where they are created and run untimed.
#include <array>
#include <cstddef>
#include <utility>

#include "accounting/tasks.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::size_t thunks = lane_state::task_slots / 2;

// Slots 0 .. 255 are GCC's functions, the others clang's.
std::atomic<void*> gomp_functions[thunks];
std::atomic<void*> kmp_functions[thunks];
constexpr std::size_t first_kmp = thunks;

// Not noexcept: pthread_exit and cancellation unwind through a task.
class execution {
 public:
  execution(const task_start& start, bool is_continued) noexcept { begin_task(m_task, start, is_continued); }
  ~execution() { end_task(m_task); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

 private:
  running_task m_task;
};

[[gnu::noinline]] void run_timed(gomp_function function, void* data, task_start start) {
  const execution recorded(start, false);
  function(data);
}

[[gnu::noinline]] std::int32_t run_timed(kmp_task_function function, std::int32_t thread, void* task, task_start start,
                                         bool is_continued) {
  const execution recorded(start, is_continued);
  return function(thread, task);
}

// A task that is only counted leaves nothing on the stack: tasks run inside each other by the thousand.
template <std::size_t index>
void gomp_thunk(void* data) {
  const auto function = reinterpret_cast<gomp_function>(gomp_functions[index].load(std::memory_order_relaxed));
  const task_start start = start_task(index, false);
  if (start.has_end()) return run_timed(function, data, start);
  function(data);
}

template <std::size_t index>
std::int32_t kmp_thunk(std::int32_t thread, void* task) {
  const auto function = reinterpret_cast<kmp_task_function>(kmp_functions[index].load(std::memory_order_relaxed));
  const bool is_continued = static_cast<const kmp_task*>(task)->part > 0;
  const task_start start = start_task(first_kmp + index, is_continued);
  if (start.has_end()) return run_timed(function, thread, task, start, is_continued);
  return function(thread, task);
}

template <std::size_t... index>
constexpr auto make_gomp(std::index_sequence<index...>) {
  return std::array<gomp_function, sizeof...(index)>{gomp_thunk<index>...};
}
template <std::size_t... index>
constexpr auto make_kmp(std::index_sequence<index...>) {
  return std::array<kmp_task_function, sizeof...(index)>{kmp_thunk<index>...};
}

constexpr auto gomp_table = make_gomp(std::make_index_sequence<thunks>{});
constexpr auto kmp_table = make_kmp(std::make_index_sequence<thunks>{});

// The place of `function` in the table, claimed at first sight; `thunks` when all are taken.
std::size_t place_of(std::atomic<void*>* table, void* function) noexcept {
  const auto start = static_cast<std::size_t>(base::mix_fast(reinterpret_cast<std::uint64_t>(function)));
  for (std::size_t i = 0; i < thunks; ++i) {
    const std::size_t at = (start + i) % thunks;
    void* thunk = table[at].load(std::memory_order_acquire);
    if (thunk == nullptr && table[at].compare_exchange_strong(thunk, function, std::memory_order_acq_rel)) return at;
    if (thunk == function) return at;
  }
  return thunks;
}

}  // namespace

task_thunk<gomp_function> thunk_of(gomp_function function) noexcept {
  const std::size_t at = place_of(gomp_functions, reinterpret_cast<void*>(function));
  if (at == thunks) return {no_slot, function};
  return {static_cast<std::uint32_t>(at), gomp_table[at]};
}

task_thunk<kmp_task_function> thunk_of(kmp_task_function function) noexcept {
  const std::size_t at = place_of(kmp_functions, reinterpret_cast<void*>(function));
  if (at == thunks) return {no_slot, function};
  return {static_cast<std::uint32_t>(first_kmp + at), kmp_table[at]};
}

std::uint32_t slot_of_thunk(kmp_task_function thunk) noexcept {
  for (std::size_t i = 0; i < thunks; ++i)
    if (kmp_table[i] == thunk) return static_cast<std::uint32_t>(first_kmp + i);
  return no_slot;
}

const void* function_of_slot(std::uint32_t slot) noexcept {
  const auto& functions = slot < first_kmp ? gomp_functions : kmp_functions;
  return functions[slot % thunks].load(std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
