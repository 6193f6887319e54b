#pragma once

#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/thread_times.hpp"

namespace trimtab::observe {

struct thread_figures {
  bool is_valid = false;
  std::uint64_t run_ns = 0;
  std::uint64_t run_delay_ns = 0;
  std::uint64_t time_slices = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;  // unknown: the kernel does not say
  cpu_usage usage;               // all 0: the kernel does not say
};

enum class thread_detail { times, all };  // times: schedstat alone, a third of the cost

// Of one thread of this process, since it began. ROOT/proc/TID/{schedstat,status,sched}.
thread_figures read_thread(const proc_threads& threads, std::uint32_t tid, thread_detail detail) noexcept;

// Run delay of all threads that the process has now, ns; unknown when it cannot be read. Reads one file a thread.
std::uint64_t read_process_delay(const char* root) noexcept;

}  // namespace trimtab::observe
