#include "steering/block_time.hpp"

#include "steering/recording_ports.hpp"
#include "steering/wait_times.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::int64_t not_known = -1;

std::atomic<std::int64_t> programs_own{not_known};
std::atomic<std::int64_t> wanted{not_known};
std::atomic<bool> is_set_by_program{false};
// What this thread has been given; otherwise it has what the program began with.
constinit thread_local std::int64_t t_given = not_known;

}  // namespace

void watch_block_time() noexcept {
  the_steering_ports.turn_block_time.store(turn_block_time, std::memory_order_relaxed);
  the_steering_ports.block_time_version.store(1, std::memory_order_release);
}

std::int64_t programs_block_time() noexcept { return programs_own.load(std::memory_order_acquire); }

void time_waits(bool is_enabled) noexcept {
  if (is_enabled == is_timing_waits()) return;
  waits_timed_since.store(is_enabled ? base::now() : 0, std::memory_order_relaxed);
  update_recording();
}

region_waits waits_so_far() noexcept {
  return {wait_passages.load(std::memory_order_relaxed),
          static_cast<double>(waits_per_member.load(std::memory_order_relaxed)) * observe::the_recorder.clock().ns_per_tick *
              1e-9};
}

bool want_block_time(std::int64_t milliseconds) noexcept {
  if (is_set_by_program.load(std::memory_order_acquire)) return false;
  wanted.store(milliseconds, std::memory_order_relaxed);
  the_steering_ports.block_time_version.fetch_add(1, std::memory_order_release);
  return true;
}

void turn_block_time(const caller& from) noexcept {
  auto* const query = real<int()>(from, symbol::kmp_get_blocktime);
  auto* const set = real<void(int)>(from, symbol::kmp_set_blocktime);
  auto* const level = real<int()>(from, symbol::omp_get_level);
  if (from.is_internal || query == nullptr || set == nullptr || level == nullptr || from.of->family != runtime_family::llvm)
    return;
  // Members have what their forker had: that is nobody's setting.
  if (level() != 0) return;
  t_block_time_version = the_steering_ports.block_time_version.load(std::memory_order_acquire);
  const std::int64_t current_value = query();
  std::int64_t program_value = not_known;
  if (programs_own.compare_exchange_strong(program_value, current_value)) program_value = current_value;
  // Neither what it began with nor what it was given: the program has set it.
  if (current_value != program_value && current_value != t_given) is_set_by_program.store(true, std::memory_order_release);
  if (is_set_by_program.load(std::memory_order_relaxed)) return;
  const std::int64_t to = wanted.load(std::memory_order_relaxed);
  if (to < 0 || to == current_value) return;
  set(static_cast<int>(to));
  t_given = query();
}

}  // namespace trimtab::openmp
