// Something that happens once, and those who wait for it: tasks whose stacks are set aside, threads that are no workers,
// and tasks that are to be made ready.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/tasks/core/wait_reason.hpp"

namespace trimtab::tasks {

// Told once that what it waits for has happened. It may be gone when notify returns.
struct waiter {
  waiter* next = nullptr;
  void (*notify)(waiter& self) noexcept = nullptr;

  // This one and those behind it. Not under a lock of what they wait for: who is told may destroy that.
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

  // Somebody is to be told.
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

  // Once. Tells all who wait, in the order in which they came. Does not touch the completion after the exchange, so that
  // a waiter may destroy it.
  void complete() noexcept {
    const std::uintptr_t newest = m_waiters.exchange(ready, std::memory_order_acq_rel);
    if (newest != 0) notify_in_order(reinterpret_cast<waiter*>(newest));
  }

  // True: `waiting` will not be notified. False: it has been notified, or is being notified.
  bool remove(waiter& waiting) noexcept;

  // Instead of complete(), by the only one that knows of it, when nobody is to be told.
  void complete_unshared() noexcept { m_waiters.store(ready, std::memory_order_relaxed); }

  // Returns when it has happened. A worker runs something else meanwhile; any other thread sleeps.
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

// A waiter on whose stack somebody waits until it is told. node: a waiter with what else it is to carry.
template <class node = waiter>
struct parked : node {
  parked() noexcept {
    this->notify = [](waiter& self) noexcept { static_cast<parked&>(self).notified.complete(); };
  }
  completion notified;
};

}  // namespace trimtab::tasks
