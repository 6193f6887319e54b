// The kernel's files about tracepoints (tracefs), wherever they are mounted.
#pragma once

#include <string>

#include "trimtab/kernel/record_decoder.hpp"

namespace trimtab::kernel {

struct tracing_formats {
  std::string sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task, sched_process_fork;
  std::string sched_stat_runtime;  // empty: this kernel has no such tracepoint
  std::string problem;             // why they cannot be read; empty: they were
  record_decoder::formats texts() const;
};

// root: in front of /sys, for tests. Where nothing is mounted and this process may, they are mounted where only it sees
// them.
tracing_formats read_tracing_formats(const std::string& root = "");

}  // namespace trimtab::kernel
