// The steering of a watched process: a thread of its own, from the first lane on, that tells the engine what happened and
// has done what it decides. The sampler thread looks after it.
#pragma once

#include "options.hpp"

namespace trimtab::session {

// While the library loads, the recorder being open. Steering is set up by the first lane: most processes have none.
void steering_configure(const steering_options& chosen) noexcept;
// The first lane begins steering and starts its thread. If that fails, the run says why and the program is not changed.
void steering_lane_opened() noexcept;
void steering_ticked() noexcept;  // by another thread, every so often
// Orderly end: trials are undone, what was learnt is written. Waits for the thread at most 100 ms. Idempotent.
void steering_stop() noexcept;
// The same, and waits for up to two seconds: no thread of ours may be left. False: one is.
bool steering_end_thread() noexcept;
void steering_after_fork() noexcept;  // in the child, which runs as it would without us

}  // namespace trimtab::session
