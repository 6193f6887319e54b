// Explicit tasks without touching their data: a fixed set of functions, each bound at first sight to one task
// function of the program, which it calls between two stamps. A program has few task functions; beyond the
// set, tasks are counted where they are created and run untimed.
#include <array>
#include <cstddef>
#include <utility>

#include "team.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::size_t thunks = 256;

std::atomic<void*> gomp_functions[thunks];
std::atomic<void*> kmp_functions[thunks];

// Not noexcept: pthread_exit and cancellation unwind through a task.
class execution {
 public:
  explicit execution(const void* function, bool is_continued = false) noexcept {
    begin_task(m_task, function, is_continued);
  }
  ~execution() { end_task(m_task); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

 private:
  running_task m_task;
};

template <std::size_t index>
void gomp_thunk(void* data) {
  const auto function = reinterpret_cast<gomp_function>(gomp_functions[index].load(std::memory_order_relaxed));
  execution timed(reinterpret_cast<const void*>(function));
  function(data);
}

template <std::size_t index>
std::int32_t kmp_thunk(std::int32_t thread, void* task) {
  const auto function = reinterpret_cast<kmp_task_function>(kmp_functions[index].load(std::memory_order_relaxed));
  execution timed(reinterpret_cast<const void*>(function), static_cast<const kmp_task*>(task)->part > 0);
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
    void* there = table[at].load(std::memory_order_acquire);
    if (there == nullptr && table[at].compare_exchange_strong(there, function, std::memory_order_acq_rel)) return at;
    if (there == function) return at;
  }
  return thunks;
}

}  // namespace

gomp_function task_thunk(gomp_function function) noexcept {
  const std::size_t at = place_of(gomp_functions, reinterpret_cast<void*>(function));
  return at < thunks ? gomp_table[at] : function;
}

kmp_task_function task_thunk(kmp_task_function function) noexcept {
  const std::size_t at = place_of(kmp_functions, reinterpret_cast<void*>(function));
  return at < thunks ? kmp_table[at] : function;
}

const void* function_of_thunk(kmp_task_function thunk) noexcept {
  for (std::size_t i = 0; i < thunks; ++i)
    if (kmp_table[i] == thunk) return kmp_functions[i].load(std::memory_order_relaxed);
  return reinterpret_cast<const void*>(thunk);
}

}  // namespace trimtab::openmp
