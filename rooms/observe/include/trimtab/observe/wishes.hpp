// What the program has asked for through trimtab.h, for those who steer it. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::observe {

// Whether its numbers of threads are to be fitted to the machine; open: it has said nothing.
enum class wish : std::uint8_t { open, off, on };
inline std::atomic<wish> fitted_threads{wish::open};

}  // namespace trimtab::observe
