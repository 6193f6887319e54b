// What the kernel says of the time of threads (schedstat), and where they run. Nothing allocates, and errno stays what it
// was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trimtab/observe/cpu_usage.hpp"

namespace trimtab::observe {

struct thread_times {
  std::uint64_t run_ns = 0;        // on a CPU
  std::uint64_t run_delay_ns = 0;  // runnable without one
  std::uint64_t time_slices = 0;
};

// What a thread does at one moment, from the text of syscall: "running" (also if it waits for a CPU), or the number and the
// arguments of the system call that it is blocked in; the number is -1 in none, while it waits for a page of memory.
struct thread_call {
  enum class kind : std::uint8_t { runs, blocked, not_told };
  kind state = kind::not_told;
  long number = -1;
  std::uint64_t arguments[2] = {};
  int argument_count = 0;  // of these two, that the text has
};
thread_call read_thread_call(const char* text) noexcept;

// Where the kernel tells of a thread: ROOT/proc/TID/FILE. Not below /proc/self/task: a process's folder in /proc is taken
// apart by whoever waits for the process, and a thread's by that thread when it ends. If one is in the other, whoever waits
// may spin for a whole tick (4 ms) for a last thread that he has just displaced from its CPU.
void write_thread_path(char* path, std::size_t bytes, const char* root, std::uint32_t tid, const char* file) noexcept;

// The threads of this process in ROOT/proc, for one pass over them. `root` must live as long.
class proc_threads {
 public:
  explicit proc_threads(const char* root) noexcept;

  // Of one of them since it began, from schedstat. Nothing: it cannot be read, or /proc is another pid namespace's.
  std::optional<thread_times> times(std::uint32_t tid) const noexcept;
  // The CPU that one of them runs on, or ran on last, from stat. Nothing: as above.
  std::optional<std::uint32_t> cpu(std::uint32_t tid) const noexcept;
  // How one of them has used the CPU, from stat, whose times are in steps of the kernel's clock (10 ms). Nothing: as above.
  std::optional<cpu_usage> usage(std::uint32_t tid) const noexcept;
  // What one of them does now. Nothing: as above, or the kernel does not tell.
  std::optional<thread_call> call(std::uint32_t tid) const noexcept;
  const char* root() const noexcept { return m_root; }

 private:
  // What stat says behind the name of the thread, which may hold anything. nullptr: it cannot be read.
  const char* read_stat(std::uint32_t tid, char* text, std::size_t bytes) const noexcept;

  const char* m_root;
  bool m_is_ours;  // numbers processes as we do: else TID may be somebody else there
};

// Calls `visit(context, tid)` for each thread that ROOT/proc says this process has now.
void for_each_thread(const char* root, void (*visit)(void* context, std::uint32_t tid), void* context) noexcept;

// Of all threads that the process has now, together. Reads one file a thread.
std::optional<thread_times> read_process_times(const char* root) noexcept;

}  // namespace trimtab::observe
