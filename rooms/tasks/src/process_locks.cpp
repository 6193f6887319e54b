#include "process_locks.hpp"

#include <pthread.h>

namespace trimtab::tasks {

namespace {

struct alignas(64) apart : base::spin_lock {};
constinit apart locks[process_locks];

void release_all() noexcept {
  for (apart& lock : locks) lock.unlock();
}

[[maybe_unused]] const int are_locks_held = pthread_atfork(
    [] {
      for (apart& each : locks) each.lock();
    },
    release_all, release_all);

}  // namespace

base::spin_lock& lock_of(of_process lock) noexcept { return locks[static_cast<std::size_t>(lock)]; }

}  // namespace trimtab::tasks
