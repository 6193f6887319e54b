#include "accounting/task_identities.hpp"

namespace trimtab::openmp {

namespace {

// Where a runtime asked us from: an address in it. A process has few runtimes.
constexpr unsigned max_askers = 8;
std::atomic<std::uintptr_t> askers[max_askers];

std::atomic<bool> are_gomp_tasks_unnamed{false};
std::atomic<bool> are_llvm_tasks_unnamed{false};

}  // namespace

bool gives_identities(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::atomic<std::uintptr_t>& asker : askers) {
    std::uintptr_t empty = 0;
    if (asker.compare_exchange_strong(empty, at, std::memory_order_acq_rel)) return true;
  }
  return false;
}

bool has_identities(const runtime* library) noexcept {
  if (library == nullptr) return false;
  for (const std::atomic<std::uintptr_t>& asker : askers) {
    const std::uintptr_t at = asker.load(std::memory_order_acquire);
    if (at == 0) return false;
    if (at >= library->begin && at < library->end) return true;
  }
  return false;
}

void tasks_are_unnamed(const runtime* library) noexcept {
  std::atomic<bool>& flag =
      library != nullptr && library->family == runtime_family::gomp ? are_gomp_tasks_unnamed : are_llvm_tasks_unnamed;
  if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
}

bool has_unnamed_tasks(runtime_family family) noexcept {
  const std::atomic<bool>& flag = family == runtime_family::gomp ? are_gomp_tasks_unnamed : are_llvm_tasks_unnamed;
  return flag.load(std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
