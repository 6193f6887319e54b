// Who is who: threads of all programs, numbered from 1 in the order in which they are seen. The kernel uses its own numbers
// again for later threads, so these are not enough.
//
// Pure: no system. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trimtab/kernel/scheduler_event.hpp"

namespace trimtab::kernel {

using thread_name = std::array<char, 16>;  // with a NUL byte at its end
thread_name name_from(std::string_view text) noexcept;

struct known_thread {
  thread_number system_number = 0;  // as the kernel has it
  thread_number own_number = 0;     // as the recorder's namespace of processes has it; 0: not known
  process_number process = 0;       // likewise, of its process
  thread_number parent = 0;         // number here of who made it; 0: that was before the recording
  bool is_watched = false;          // a descendant of the watched process
  thread_name name{};
  std::uint64_t begin_ns = 0;  // when it was made, or seen first
};

class thread_directory {
 public:
  // watched: process whose descendants are marked; 0: of none.
  explicit thread_directory(process_number watched) noexcept : m_watched(watched) {}
  // Puts numbers of this directory in place of the kernel's, in an event of any kind. Events in the order of time.
  void enter(scheduler_event& happened);
  // A thread, by the kernel's number, has this name from now on.
  void rename(thread_number system_number, const thread_name& name, std::uint64_t now_ns);

  // Thread N is at [N - 1].
  const std::vector<known_thread>& threads() const noexcept { return m_threads; }
  // The name of each thread's process: that of its first thread, if that was seen; otherwise empty.
  std::vector<thread_name> names_of_processes() const;

 private:
  thread_number number_of(thread_number system_number, std::uint64_t now_ns);
  thread_number add(thread_number system_number, std::uint64_t now_ns);
  // The event was recorded while this thread ran.
  void note_running(thread_number number, const scheduler_event& happened);

  const process_number m_watched;
  std::vector<known_thread> m_threads;
  std::unordered_map<thread_number, thread_number> m_numbers;  // by the kernel's
};

}  // namespace trimtab::kernel
