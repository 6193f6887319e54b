// A lock for cold paths that must work in any thread at any time, also right after fork. Yields when it has
// to wait: the holder may have been preempted on a machine with fewer CPUs than threads.
#pragma once

#include <sched.h>

#include <atomic>

#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

class spin_lock {
 public:
  void lock() noexcept {
    while (m_held.exchange(true, std::memory_order_acquire))
      if (may_call_system()) sched_yield();
  }
  bool try_lock() noexcept { return !m_held.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { m_held.store(false, std::memory_order_release); }
  // In a forked child, where the holder does not exist.
  void reset() noexcept { m_held.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> m_held{false};
};

}  // namespace trimtab::base
