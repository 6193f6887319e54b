// Locks of what the whole process has in common. Who forks holds all of them meanwhile: the child finds each of them free
// and what it guards whole, though the threads that used it are not there.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "trimtab/base/spin_lock.hpp"

namespace trimtab::tasks {

// In the order in which they are taken: under `implicit` a runtime is made, which takes others; under these nothing that
// takes another one is called.
enum class of_process : std::size_t {
  implicit,    // the runtime of threads that have none
  runtimes,    // those that live
  cpus,        // base::read_cpu_limits
  clock,       // its calibration
  counters,    // their types
  calls,       // names of algorithms' calls
  pieces,      // their lengths
  timers,      // the making of their service
  background,  // the work of threads that wait
  recording,   // whether anything is recorded
  blocks,      // the depot
};
inline constexpr std::size_t process_locks = static_cast<std::size_t>(of_process::blocks) + 1;

base::spin_lock& lock_of(of_process lock) noexcept;

// What a process has one of, made at its first use and never destroyed. A function's own static object would not do: a
// child whose parent was making it in another thread would wait for that one.
template <class value>
class lazy_singleton {
 public:
  constexpr explicit lazy_singleton(of_process lock) noexcept : m_lock(lock) {}

  // make(): under the lock.
  template <class function>
  value& get(function&& factory) {
    if (value* const existing = get_if(); existing != nullptr) [[likely]]
      return *existing;
    const std::lock_guard guard(lock_of(m_lock));
    if (value* const existing = get_if(); existing != nullptr) return *existing;
    value* const created = new (m_place) value(std::forward<function>(factory)());
    m_value.store(created, std::memory_order_release);
    return *created;
  }
  // nullptr: not yet.
  value* get_if() const noexcept { return m_value.load(std::memory_order_acquire); }
  // In a forked child, of what is the parent's: it is left as it lies, and made anew.
  void forget() noexcept { m_value.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<value*> m_value{nullptr};
  of_process m_lock;
  alignas(value) char m_place[sizeof(value)]{};
};

}  // namespace trimtab::tasks
