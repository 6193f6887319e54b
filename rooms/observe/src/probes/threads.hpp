#pragma once

#include "trimtab/observe/probe.hpp"

namespace trimtab::observe {

struct thread_figures {
  bool is_valid = false;
  std::uint64_t run_ns = 0;
  std::uint64_t run_delay_ns = 0;
  std::uint64_t time_slices = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;  // unknown: the kernel does not say
};

// Of one thread of this process, since it began. ROOT/proc/self/task/TID/{schedstat,status,sched}.
thread_figures read_thread(const char* root, std::uint32_t tid) noexcept;

}  // namespace trimtab::observe
