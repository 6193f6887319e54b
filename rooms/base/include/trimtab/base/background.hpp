// Threads of ours beside those of the program.
#pragma once

namespace trimtab::base {

// The calling thread takes nobody's CPU away when it wakes: where none is idle it waits for the next tick of the scheduler.
// Whoever has slept is let in at once otherwise, and whose CPU that was may have to wait for a slice of somebody else's.
// Not where the program has chosen another policy than the usual one.
void stay_in_background() noexcept;

}  // namespace trimtab::base
