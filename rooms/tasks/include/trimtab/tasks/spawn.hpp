// What a new task may be told, and how it comes to a queue.
#pragma once

#include <cstdint>

#include "trimtab/tasks/task.hpp"

namespace trimtab::tasks {

class runtime;

struct task_options {
  priority level = priority::normal;
  std::uint32_t subject = 0;  // what kind of work it is (trimtab::annotation)
  // Where it had best run, because its data are there: a worker's number. -1: anywhere. A hint.
  std::int32_t worker = -1;
};

namespace detail {

// The calling worker's runtime, on other threads the standard one.
runtime* home_of_caller();

// A task that will come to a queue has been made; before make_ready.
void count_made();

// To where the policy wants it: the calling worker's queue, or from outside.
void make_ready(task& what, runtime& home) noexcept;

// A new task that is ready, with what the options say.
void spawn(task& what, const task_options& options);

}  // namespace detail
}  // namespace trimtab::tasks
