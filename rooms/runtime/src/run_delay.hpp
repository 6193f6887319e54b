// How long threads of this process were runnable without a CPU.
#pragma once

#include "trimtab/observe/thread_times.hpp"

namespace trimtab::task_steering {

// Of all threads that there are now, ns since each began; 0 where the kernel does not say. Reads one file a thread.
inline std::uint64_t read_run_delay(const char* root = "") noexcept {
  const auto all = observe::read_process_times(root);
  return all ? all->run_delay_ns : 0;
}

}  // namespace trimtab::task_steering
