#include "trimtab/base/system_calls.hpp"

#include <sched.h>

#include "trimtab/base/clock.hpp"

namespace trimtab::base {

namespace {
constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
}  // namespace

void forbid_system_calls() noexcept {
  system_calls_are_forbidden.store(true, std::memory_order_seq_cst);
  const std::uint64_t deadline = monotonic_ns() + longest_wait_ns;
  while (open_system_call_sections.load(std::memory_order_seq_cst) != 0 && monotonic_ns() < deadline) sched_yield();
}

}  // namespace trimtab::base
