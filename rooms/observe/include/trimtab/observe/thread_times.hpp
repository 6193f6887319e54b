// What the kernel says of the time of threads (schedstat). Nothing allocates, and errno stays what it was.
#pragma once

#include <cstdint>
#include <optional>

namespace trimtab::observe {

struct thread_times {
  std::uint64_t run_ns = 0;        // on a CPU
  std::uint64_t run_delay_ns = 0;  // runnable without one
  std::uint64_t time_slices = 0;
};

// Of one thread of this process, since it began. ROOT/proc/self/task/TID/schedstat. Nothing: it cannot be read.
std::optional<thread_times> read_thread_times(const char* root, std::uint32_t tid) noexcept;

// Of all threads that the process has now, together. Reads one file a thread.
std::optional<thread_times> read_process_times(const char* root) noexcept;

}  // namespace trimtab::observe
