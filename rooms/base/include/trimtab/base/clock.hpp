// One clock for every stamp: the time-stamp counter where it is invariant, CLOCK_MONOTONIC elsewhere.
// Stamps of all lanes and processes of one machine are comparable through clock_calibration.
#pragma once

#include <sys/time.h>

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace trimtab::base {

using ticks = std::uint64_t;

inline std::uint64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline std::uint64_t nanoseconds_of(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_usec) * 1'000u;
}

inline std::uint64_t monotonic_ns() noexcept { return nanoseconds_of(CLOCK_MONOTONIC); }

// That the calling thread has run: what it does is not slow because others have the CPU.
inline double thread_seconds() noexcept { return 1e-9 * static_cast<double>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID)); }

// Set once, before the first thread records; read on every stamp.
extern bool clock_is_tsc;

inline ticks now() noexcept {
#if defined(__x86_64__)
  if (clock_is_tsc) [[likely]]
    return __rdtsc();
#elif defined(__aarch64__)
  if (clock_is_tsc) [[likely]] {
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
  }
#endif
  return monotonic_ns();
}

// ns = mono_ns_0 + (ticks - ticks_0) * ns_per_tick, in CLOCK_MONOTONIC nanoseconds.
struct clock_calibration {
  ticks ticks_0 = 0;
  std::uint64_t mono_ns_0 = 0;
  std::uint64_t real_ns_0 = 0;
  double ns_per_tick = 1.0;
};

// Chooses the clock, whose rate is not known yet: see refine. Call once, single-threaded.
clock_calibration choose_clock() noexcept;

// The same, and measures it against CLOCK_MONOTONIC for about 50 us.
clock_calibration calibrate_clock() noexcept;

// The same anchor with a rate from now's longer baseline: the error shrinks with the program's age.
clock_calibration refine(const clock_calibration& first) noexcept;

// Cost of one now(), ns, as the least of a few short batches.
double clock_read_cost_ns(const clock_calibration& calibration) noexcept;

// True where the processor and the kernel both say that the counter is invariant and synchronous.
bool tsc_is_invariant() noexcept;

}  // namespace trimtab::base
