// Figures that the adapter of a task runtime tells of the subject whose knob is the cap of workers.
#pragma once

#include <string_view>

namespace trimtab::steer::figures {

inline constexpr std::string_view queue_length = "queue_length";  // tasks that lie in queues, now
inline constexpr std::string_view work_share = "work_share";      // of the time: somebody ran tasks
inline constexpr std::string_view watts = "watts";                // of all packages; missing: no meter
inline constexpr std::string_view cpus = "cpus";                  // that the process may use, its quota included, rounded up
// On a CPU, of the time that workers are neither parked nor waiting for one: the rest they sleep in their tasks.
inline constexpr std::string_view cpu_share = "cpu_share";
inline constexpr std::string_view workless_share = "workless_share";  // of the workers' time: no task
inline constexpr std::string_view steal_share = "steal_share";        // of the tasks, that were stolen
inline constexpr std::string_view queued_share = "queued_share";      // of the tasks, that came out of a queue
inline constexpr std::string_view workers = "workers";                // of the runtime
inline constexpr std::string_view task_seconds = "task_seconds";      // of one task
inline constexpr std::string_view tasks_per_s = "tasks_per_s";

}  // namespace trimtab::steer::figures
