// Explicit tasks: who creates and runs them, and functions that stand for theirs.
#pragma once

#include "accounting/lane_state.hpp"

namespace trimtab::openmp {

// Explicit tasks.
using kmp_task_function = std::int32_t (*)(std::int32_t, void*);
// How clang lays a task out. An untied one is entered anew for each of its parts.
struct kmp_task {
  void* shared;
  kmp_task_function routine;
  std::int32_t part;
};
// A task function's number in the process, and the function that stands for it: itself if there is no room for another.
inline constexpr std::uint32_t no_slot = 0xffffffffu;
template <class function>
struct task_thunk {
  std::uint32_t slot;
  function run;
};
task_thunk<gomp_function> thunk_of(gomp_function function) noexcept;
task_thunk<kmp_task_function> thunk_of(kmp_task_function function) noexcept;
// The slot of a function's thunk; no_slot: it is none.
std::uint32_t slot_of_thunk(kmp_task_function thunk) noexcept;
const void* function_of_slot(std::uint32_t slot) noexcept;

// What the lane knows of that slot's function; nullptr: nothing yet, or no longer.
inline task_kind* known_kind(lane_state& state, std::uint32_t slot) noexcept {
  task_kind& kind = state.task_kinds[slot];
  const bool is_current = kind.exact_row != nullptr && kind.generation == places_generation.load(std::memory_order_relaxed);
  return is_current ? &kind : nullptr;
}

// Counts a task that is created; returns its subject. no_subject: there is no room for another.
std::uint32_t count_created(const lane_context& context, std::uint32_t slot, const void* function,
                            const char* source) noexcept;
// In a trace, a task that is created and will have no identity.
void record_unnamed(const lane_context& context, std::uint32_t subject, const runtime* library) noexcept;
[[gnu::cold]] void task_created_slowly(const lane_context& context, std::uint32_t slot, const void* function,
                                       const runtime* library, const char* source) noexcept;
// `of` is the runtime that the task is given to, `source` as in subject_at. slot: of its function.
inline void task_created(const lane_context& context, std::uint32_t slot, const void* function, const runtime* library,
                         const char* source = nullptr) noexcept {
  region_of_construct(*context.state);  // the region has a construct
  task_kind* const kind = slot == no_slot || observe::the_recorder.traces() ? nullptr : known_kind(*context.state, slot);
  if (kind == nullptr) [[unlikely]]
    return task_created_slowly(context, slot, function, library, source);
  kind->exact_row->x[observe::task_fields::created] += 1;
}
// The task created last was no task, but the pattern of a taskloop's pieces.
void pattern_created(const lane_context& context, const void* function) noexcept;

// While it lives the calling thread is in a runtime's taskloop, which makes pieces out of `function`.
class taskloop_call {
 public:
  taskloop_call(const lane_context& context, const void* function) noexcept;
  ~taskloop_call();
  taskloop_call(const taskloop_call&) = delete;
  taskloop_call& operator=(const taskloop_call&) = delete;

 private:
  lane_context m_context;
  std::uint32_t m_outer;
};

// Between the two the calling thread runs a task. is_continued: a later part of an untied task.
// Counts the task of that slot, which the calling thread is about to run, and decides about the rest.
task_start start_task(std::uint32_t slot, bool is_continued) noexcept;
// Behind start_task, if the task has an end.
void begin_task(running_task& task, const task_start& start, bool is_continued) noexcept;
// The same for a task of a runtime that does not tell which one runs.
void begin_identified_task(running_task& task, const task_start& start, std::uint64_t identity) noexcept;
void end_task(running_task& task) noexcept;

}  // namespace trimtab::openmp
