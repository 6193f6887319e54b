#include "steering/first_share.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "runtimes/runtimes.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::openmp {

namespace {

// Never destroyed. The steering thread has a registry of its own, with the same record: whoever comes later finds it.
observe::cpu_registry* joined = nullptr;
observe::cpu_fold cpus{};
std::uint32_t cpu_count = 1;
std::atomic<std::uint32_t> others{0}, share{0};
std::atomic<bool> is_taken{false}, is_over{false};

}  // namespace

void announce(const std::string& registry, const base::cpu_mask& allowed) {
  if (registry.empty() || joined != nullptr) return;
  auto fresh = std::make_unique<observe::cpu_registry>(registry.c_str());
  cpus = observe::fold(allowed);
  cpu_count = std::max(1u, allowed.count());
  if (is_any_runtime_loaded()) fresh->beat(base::monotonic_ns(), 1, 1, cpus);
  joined = fresh.release();
}

void take_first_share(std::uint32_t own_share) noexcept {
  if (joined == nullptr || is_taken.exchange(true, std::memory_order_relaxed)) return;
  const std::uint32_t wanted = std::min(own_share, cpu_count);
  joined->beat(base::monotonic_ns(), wanted, wanted, cpus);
  const std::uint32_t shared_count = joined->share(cpu_count, 0);
  if (joined->why_alone()[0] == '\0' && joined->others() > 0 && shared_count < own_share) {
    share.store(shared_count, std::memory_order_relaxed);
    others.store(static_cast<std::uint32_t>(joined->others()), std::memory_order_release);
    the_team_sizes.want(shared_count);
  }
  is_over.store(true, std::memory_order_release);
}

first_share taken_share() noexcept {
  first_share share_found;
  share_found.others = others.load(std::memory_order_acquire);
  share_found.cpus = share.load(std::memory_order_relaxed);
  return share_found;
}

void leave_share() noexcept {
  if (joined == nullptr) return;
  if (!is_taken.exchange(true, std::memory_order_relaxed) || is_over.load(std::memory_order_acquire)) joined->leave();
}

}  // namespace trimtab::openmp
