// Identities of the tasks of a runtime that tells none, in traces: the runtime is given another function and larger data, in
// which the identity stands before the program's own data.
//
//   data that the runtime keeps for a task       [task_identity][padding][the program's data, aligned as it asked for]
//   for a piece of a taskloop                    [first, last][reductions][task_identity][padding][the program's data]
//
// All that the program's function reads is as without us, at an address of the same alignment.
#pragma once

#include "accounting/task_dependences.hpp"
#include "accounting/tasks.hpp"

namespace trimtab::openmp {

using copy_function = void (*)(void* target, void* source);

struct task_identity {
  std::uint64_t identity;
  gomp_function function;
  std::uint32_t slot;
  std::uint32_t own_data;  // the program's data begins so many bytes behind the begin of the runtime's
};

// What the runtime reads and writes itself at the begin of a piece's data: the piece's bounds; and, if the taskloop reduces,
// what.
struct piece_words {
  std::uintptr_t bounds[2];
  std::uintptr_t reductions;
};
struct piece_identity {
  piece_words words;
  task_identity task;
};

// How much larger data is.
struct data_layout {
  std::uint32_t own_data;
  long bytes;
  long alignment;
};
data_layout layout_with(std::size_t identity_bytes, long bytes, long alignment) noexcept;

// What the runtime is asked to make tasks of: it lives until the runtime's call returns. `event` is first, since a runtime
// writes the handle of a detached task to the begin of the data that it is given.
struct task_pattern {
  piece_words words;
  lane_context context;
  gomp_function function;
  copy_function copy;  // nullptr: bytes are copied
  void* data;
  std::size_t bytes;
  std::uint64_t identity;  // of the task; pieces of a taskloop get theirs when they are made
  std::uint32_t slot;
  std::uint32_t own_data;
  bool is_detached;
};

// What the runtime is given in place of the program's functions. Data: a task_pattern.
void copy_identified_task(void* target, void* pattern);
void run_identified_task(void* data);
void copy_identified_piece(void* target, void* pattern);
void run_identified_piece(void* data);

// The task of that identity, which the calling thread is about to create, has this depend list.
void task_depends(const lane_context& context, std::uint64_t task, const dependence* list, std::size_t count) noexcept;
// How many tasks were left out of lists; and the end of what a lane knows of a scope.
std::uint64_t lost_dependences() noexcept;
void end_scope(lane_state& state, const task_scope& outer) noexcept;

}  // namespace trimtab::openmp
