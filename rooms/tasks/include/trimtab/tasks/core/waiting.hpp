// An event that happens once, and its waiters: suspended tasks, threads that are not workers, and tasks that become
// ready when it happens.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/tasks/core/wait_reason.hpp"

namespace trimtab::tasks {

// Notified once, when the event has happened. It may be gone when notify returns.
struct waiter {
  waiter* next = nullptr;
  void (*notify)(waiter& self) noexcept = nullptr;

  // Notifies this one and those behind it. Not to be called under a lock of the event: a notified waiter may destroy it.
  static void notify_all(waiter* first) noexcept {
    while (first != nullptr) {
      waiter* const next = first->next;
      first->notify(*first);
      first = next;
    }
  }
};

class completion {
 public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  bool is_ready() const noexcept { return m_waiters.load(std::memory_order_acquire) == ready; }

  // True: the event has waiters.
  bool is_awaited() const noexcept { return m_waiters.load(std::memory_order_acquire) > ready; }

  // False: it has happened already, and `waiting` will not be notified.
  bool add(waiter& waiting) noexcept {
    std::uintptr_t newest = m_waiters.load(std::memory_order_acquire);
    do {
      if (newest == ready) return false;
      waiting.next = reinterpret_cast<waiter*>(newest);
    } while (!m_waiters.compare_exchange_weak(newest, reinterpret_cast<std::uintptr_t>(&waiting), std::memory_order_acq_rel,
                                              std::memory_order_acquire));
    return true;
  }

  // To be called once. Notifies all waiters in the order in which they came. Does not touch the completion after the
  // exchange, so a waiter may destroy it.
  void complete() noexcept {
    const std::uintptr_t newest = m_waiters.exchange(ready, std::memory_order_acq_rel);
    if (newest != 0) notify_in_order(reinterpret_cast<waiter*>(newest));
  }

  // True: `waiting` will not be notified. False: it has been notified, or is being notified.
  bool remove(waiter& waiting) noexcept;

  // Instead of complete(), if no other thread knows of the completion and it has no waiters.
  void complete_unshared() noexcept { m_waiters.store(ready, std::memory_order_relaxed); }

  // Returns when the event has happened. A worker runs other tasks meanwhile; any other thread sleeps.
  // reason, object: for reports about tasks that wait. object: the one waited for; nullptr: this.
  void wait(wait_reason reason, const void* object = nullptr) {
    if (!is_ready()) wait_slow(reason, object != nullptr ? object : this);
  }

 private:
  static constexpr std::uintptr_t ready = 1;
  static void notify_in_order(waiter* newest) noexcept;
  void wait_slow(wait_reason reason, const void* object);

  std::atomic<std::uintptr_t> m_waiters{0};
};

// A waiter on the stack of the task or thread that waits. node: a waiter with the data that it carries.
template <class node = waiter>
struct parked : node {
  parked() noexcept {
    this->notify = [](waiter& self) noexcept { static_cast<parked&>(self).notified.complete(); };
  }
  completion notified;
};

}  // namespace trimtab::tasks
