// Options of new tasks, and how a new task gets into a queue.
#pragma once

#include <cstdint>
#include <type_traits>

#include "trimtab/tasks/core/kind_priorities.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/task.hpp"

namespace trimtab::tasks {

class runtime;

// A name for tasks, in reports and recorded runs: `static const trimtab::annotation solve("solve");`, then
// async({.name = &solve}, f).
class annotation {
 public:
  constexpr explicit annotation(const char* name, const char* file = __builtin_FILE(),
                                std::uint32_t line = __builtin_LINE()) noexcept
      : m_kind{nullptr, name, file, line}, m_recorded(nullptr, name, file, line) {}
  const task_kind& kind() const noexcept { return m_kind; }
  recording::kind& recorded() const noexcept { return m_recorded; }

 private:
  task_kind m_kind;
  mutable recording::kind m_recorded;
};

struct task_options {
  priority level = priority::normal;
  const annotation* name = nullptr;  // of static storage
  // A hint where to run, because the data are there: a worker's number; -1: anywhere.
  std::int32_t worker = -1;
};

namespace detail {

// Properties that tasks of one function with the same options share.
struct description {
  const task_kind* kind_of_work;
  std::uint32_t subject;  // 0 unless recording
  priority level;
};

// The subject of a call of f. To be called only while recording is on.
template <class function>
std::uint32_t recorded_subject(const function& f) noexcept {
  if constexpr (std::is_pointer_v<function>)
    return recording::subject_of_code(recording::code_of(f));
  else
    return recording::kind_of_call<function>::subject(f);
}

// With the priority that the program gives: of forks, which stay in the queue of the worker that forks them, and of tasks
// of graphs, which get another one when they are ready.
template <class function>
description describe_as_given(const task_options& options, const function& f) noexcept {
  description result{&kind_of<function>, 0, options.level};
  if (options.name != nullptr) result.kind_of_work = &options.name->kind();
  if (recording::is_enabled()) [[unlikely]]
    result.subject = options.name != nullptr ? options.name->recorded().subject() : recorded_subject(f);
  return result;
}

template <class function>
description describe(const task_options& options, const function& f) noexcept {
  description result = describe_as_given(options, f);
  if (options.name != nullptr) result.level = level_of_kind(options.name->kind().name, options.level);
  return result;
}

// Tells the recorder of a new task.
void record_made(task& item) noexcept;

inline void set_up(task& item, const description& details) noexcept {
  item.level = details.level;
  item.kind_of_work = details.kind_of_work;
  item.subject = details.subject;
  if (details.subject != 0) [[unlikely]]
    record_made(item);
}

// The calling worker's runtime; on other threads the standard runtime.
runtime* home_of_caller();

// Counts a task that was created and will be queued later. To be called before make_ready.
void count_made();

// Queues a task where the policy wants it: in the calling worker's queue, or from outside. hint: a worker's number, or -1.
void make_ready(task& item, runtime& home, std::int32_t hint = -1) noexcept;

// Queues a new task that is ready, as the options say.
void spawn(task& item, const task_options& options);

}  // namespace detail
}  // namespace trimtab::tasks
