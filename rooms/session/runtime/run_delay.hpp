// How long threads of this process were runnable without a CPU.
#pragma once

#include <cstdint>

namespace trimtab::session {

// Of all threads that there are now, ns since each began; 0 where the kernel does not say. Reads one file a thread.
std::uint64_t read_run_delay(const char* root = "") noexcept;

}  // namespace trimtab::session
