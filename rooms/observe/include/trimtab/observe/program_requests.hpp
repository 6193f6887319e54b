// What the program has asked for through trimtab.h, for those who steer it. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::observe {

// Whether its numbers of threads are to be fitted to the machine; none: it has not said.
enum class thread_fitting_request : std::uint8_t { none, off, on };
inline std::atomic<thread_fitting_request> requested_thread_fitting{thread_fitting_request::none};

}  // namespace trimtab::observe
