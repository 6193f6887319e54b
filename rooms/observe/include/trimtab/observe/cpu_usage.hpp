// How threads have used the CPU: in the program's own instructions, in the kernel, and how many page faults they had.
#pragma once

#include <cstdint>

namespace trimtab::observe {

// Since the thread or process began. The kernel counts times in full and splits them by what it found at its timer's ticks
// (every 1 to 10 ms): the sum of many short differences is right, a single one is not.
struct cpu_usage {
  std::uint64_t program_ns = 0;
  std::uint64_t kernel_ns = 0;
  std::uint64_t minor_faults = 0;  // needed no disk
  std::uint64_t major_faults = 0;

  // What was added since `earlier`; nothing is less than 0.
  cpu_usage since(const cpu_usage& earlier) const noexcept;
  cpu_usage plus(const cpu_usage& other) const noexcept;
};

// Of the calling thread, and of all threads of this process, ended ones included. All 0: no system calls are permitted.
// One system call of 0.2 us.
cpu_usage usage_of_thread() noexcept;
cpu_usage usage_of_process() noexcept;

}  // namespace trimtab::observe
