#include "trimtab/base/clock.hpp"

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trimtab/base/read_file.hpp"

namespace trimtab::base {

bool clock_is_tsc = false;

namespace {

struct pair {
  ticks at;
  std::uint64_t mono;
};

// The tightest of several readings: the pair whose two counter reads lie closest together, so that a
// preemption between the clocks does not become an error of the rate.
pair read_pair() noexcept {
  pair best{};
  ticks narrowest = ~ticks{0};
  for (int i = 0; i < 5; ++i) {
    const ticks before = now();
    const std::uint64_t mono = monotonic_ns();
    const ticks after = now();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, mono};
    }
  }
  return best;
}

#if defined(__x86_64__)
// The kernel gives up on a counter that it saw drift between sockets; only then is "tsc" not its source.
bool kernel_trusts_tsc() noexcept {
  char text[128];
  return read_file("/sys/devices/system/clocksource/clocksource0/available_clocksource", text, sizeof text) > 0 &&
         std::strstr(text, "tsc") != nullptr;
}
#endif

}  // namespace

bool tsc_is_invariant() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
  return kernel_trusts_tsc();
#elif defined(__aarch64__)
  return true;  // the generic timer is architected to be invariant
#else
  return false;
#endif
}

clock_calibration choose_clock() noexcept {
  clock_is_tsc = tsc_is_invariant();
  clock_calibration result;
  const pair first = read_pair();
  result.ticks_0 = first.at;
  result.mono_ns_0 = first.mono;
  result.real_ns_0 = nanoseconds_of(CLOCK_REALTIME);
  return result;
}

clock_calibration calibrate_clock() noexcept {
  const clock_calibration chosen = choose_clock();
  while (clock_is_tsc && monotonic_ns() - chosen.mono_ns_0 < 50'000) {
  }
  return refine(chosen);
}

clock_calibration refine(const clock_calibration& first) noexcept {
  clock_calibration result = first;
  if (!clock_is_tsc) return result;
  const pair second = read_pair();
  if (second.at > first.ticks_0 && second.mono > first.mono_ns_0)
    result.ns_per_tick = static_cast<double>(second.mono - first.mono_ns_0) / static_cast<double>(second.at - first.ticks_0);
  return result;
}

double clock_read_cost_ns(const clock_calibration& calibration) noexcept {
  constexpr int reads = 32;
  ticks least = ~ticks{0};
  for (int batch = 0; batch < 4; ++batch) {
    const ticks begin = now();
    for (int i = 0; i < reads; ++i) (void)*const_cast<volatile const ticks*>(&static_cast<const ticks&>(now()));
    const ticks spent = now() - begin;
    if (spent < least) least = spent;
  }
  return static_cast<double>(least) * calibration.ns_per_tick / (reads + 1);
}

}  // namespace trimtab::base
