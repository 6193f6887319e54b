// threads.tt, charges.tt and delays.tt of a run directory: what was counted so far.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler_recording.hpp"

namespace trimtab::kernel {

// What the recording does not know by itself.
struct recording_facts {
  std::string host;
  process_number watched = 0, recorder = 0;
  std::uint64_t recorder_cpu_ns = 0;
  bool is_ended = false;
};

// Each file in folder is replaced as a whole. 0, or what errno calls the mistake: then it is as before.
int write_account(const std::string& folder, const scheduler_recording& recording, const recording_facts& facts);

}  // namespace trimtab::kernel
