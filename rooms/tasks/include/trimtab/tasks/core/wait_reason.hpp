// What a task can wait for: one enumerator for each, which reports of deadlocks show and the recorder stores.
#pragma once

#include <cstdint>

#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::tasks {

enum class wait_reason : std::uint8_t {
  not_waiting,  // it does not wait
  future,
  mutex,
  shared_mutex,
  condition,
  semaphore,
  latch,
  barrier,
  channel_room,
  channel_value,
  fork,
  task_scope,
  graph,
  time,
  turn,  // it has yielded
  run,   // a thread waits for the task that it gave to runtime::run
};

// In reports: "a task waits for TEXT". Static storage.
const char* text_of(wait_reason reason) noexcept;

// In run directories.
recording::cause cause_of(wait_reason reason) noexcept;

}  // namespace trimtab::tasks
