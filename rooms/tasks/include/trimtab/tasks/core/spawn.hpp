// What a new task may be told, and how it comes to a queue.
#pragma once

#include <cstdint>
#include <type_traits>

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
  // Where it had best run, because its data are there: a worker's number. -1: anywhere. A hint.
  std::int32_t worker = -1;
};

namespace detail {

// What tasks made of one function with the same options have in common.
struct description {
  const task_kind* kind_of_work;
  std::uint32_t subject;  // 0 unless recording
  priority level;
};

// Of a call of f, while something is recorded.
template <class function>
std::uint32_t recorded_subject(const function& f) noexcept {
  if constexpr (std::is_pointer_v<function>)
    return recording::subject_of_code(recording::code_of(f));
  else
    return recording::kind_of_call<function>::subject(f);
}

template <class function>
description describe(const task_options& options, const function& f) noexcept {
  description result{&kind_of<function>, 0, options.level};
  if (options.name != nullptr) result.kind_of_work = &options.name->kind();
  if (recording::is_enabled()) [[unlikely]]
    result.subject = options.name != nullptr ? options.name->recorded().subject() : recorded_subject(f);
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

// The calling worker's runtime, on other threads the standard one.
runtime* home_of_caller();

// A task that will come to a queue has been made; before make_ready.
void count_made();

// To where the policy wants it: the calling worker's queue, or from outside. hint: a worker's number, or -1.
void make_ready(task& item, runtime& home, std::int32_t hint = -1) noexcept;

// A new task that is ready, with what the options say.
void spawn(task& item, const task_options& options);

}  // namespace detail
}  // namespace trimtab::tasks
