#include "background_of_threads.hpp"

#include <atomic>
#include <mutex>

#include "process_locks.hpp"

namespace trimtab::tasks {

namespace {

std::atomic<bool> is_any_background{false};
// Under its lock; their runtimes keep them. Never destroyed: threads may still wait while the process ends.
std::vector<std::weak_ptr<background_work>>& background_works = *new std::vector<std::weak_ptr<background_work>>;

}  // namespace

void add_background_of_threads(const std::shared_ptr<background_work>& work) {
  const std::lock_guard guard(lock_of(of_process::background));
  std::erase_if(background_works, [](const auto& known) { return known.expired(); });
  background_works.push_back(work);
  is_any_background.store(true, std::memory_order_release);
}

std::vector<std::shared_ptr<background_work>> background_of_threads() {
  const std::lock_guard guard(lock_of(of_process::background));
  std::vector<std::shared_ptr<background_work>> living;
  for (const auto& known : background_works)
    if (auto work = known.lock()) living.push_back(std::move(work));
  return living;
}

bool is_background_set() noexcept { return is_any_background.load(std::memory_order_acquire); }

}  // namespace trimtab::tasks
