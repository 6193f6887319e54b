// Address space that files may reserve for their growth. Without a limit on it (RLIMIT_AS, ulimit -v) there is plenty. With
// one, what we reserve is missing for the program: all our reservations together take a sixteenth of the limit at most.
#pragma once

#include <cstddef>

namespace trimtab::base {

// How many bytes to reserve for a file that needs `needed` now and may grow up to `wanted`. At least `needed`, and no
// promise that the kernel grants it.
std::size_t affordable_reserve(std::size_t needed, std::size_t wanted) noexcept;

// What was reserved with it and is free again.
void give_back_reserve(std::size_t bytes) noexcept;

}  // namespace trimtab::base
