// Who this process is among all of a run: its host, when it began, its rank. A process number alone is not enough: another
// host has the same numbers, the system gives a number out again, and exec puts another program into the same process.
#pragma once

#include <cstdint>

namespace trimtab::observe {

// The first part of the host's name, with letters, digits, and . _ + - only: for names of files. The launcher's are made in
// the same way (run_name.py).
struct file_host_name {
  file_host_name() noexcept;
  char text[65];
};

// Clock ticks since the machine was booted, from the text of /proc/PID/stat; exec leaves it as it is. 0: not there.
std::uint64_t start_in(const char* stat) noexcept;

}  // namespace trimtab::observe
