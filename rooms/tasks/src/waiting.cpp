#include "trimtab/tasks/core/waiting.hpp"

#include <sched.h>

#include "background_of_threads.hpp"
#include "futex.hpp"
#include "stack.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

void completion::notify_in_order(waiter* newest) noexcept {
  waiter* oldest = nullptr;
  while (newest != nullptr) {
    waiter* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  waiter::notify_all(oldest);
}

bool completion::remove(waiter& waiting) noexcept {
  for (;;) {
    std::uintptr_t newest = m_waiters.load(std::memory_order_acquire);
    do {
      if (newest == ready) return false;
    } while (!m_waiters.compare_exchange_weak(newest, 0, std::memory_order_acq_rel, std::memory_order_acquire));
    // All are ours for a moment. Those that can no longer be put back are told.
    waiter* oldest = nullptr;
    bool was_waiting = false;
    for (auto* entry = reinterpret_cast<waiter*>(newest); entry != nullptr;) {
      waiter* const next = entry->next;
      if (entry == &waiting) {
        was_waiting = true;
      } else {
        entry->next = oldest;
        oldest = entry;
      }
      entry = next;
    }
    while (oldest != nullptr) {
      waiter* const next = oldest->next;
      if (!add(*oldest)) oldest->notify(*oldest);
      oldest = next;
    }
    if (was_waiting) return true;
    // Another who removes holds it.
    sched_yield();
  }
}

namespace {

struct waiting_stack : waiter {
  explicit waiting_stack(completion& awaited) : event(&awaited) {
    notify = [](waiter& self) noexcept { worker::ready(*static_cast<waiting_stack&>(self).suspended); };
  }
  completion* event;
  stack* suspended = nullptr;
};

struct waiting_thread : waiter {
  waiting_thread() {
    notify = [](waiter& self) noexcept {
      futex_word* const word = &static_cast<waiting_thread&>(self).has_ended;
      word->store(1, std::memory_order_release);
      futex_wake(word, 1);
    };
  }
  bool is_over() const noexcept { return has_ended.load(std::memory_order_acquire) != 0; }
  void sleep() noexcept {
    while (has_ended.load(std::memory_order_acquire) == 0) futex_wait(has_ended, 0);
  }
  futex_word has_ended{0};
};

}  // namespace

void completion::wait_slow(wait_reason reason, const void* object) {
  if (worker::current() != nullptr) {
    waiting_stack waiting(*this);
    worker::suspend(
        reason, object,
        [](void* argument, stack& left) noexcept {
          auto& self = *static_cast<waiting_stack*>(argument);
          self.suspended = &left;
          if (!self.event->add(self)) worker::ready(left);
        },
        &waiting);
    return;
  }
  waiting_thread waiting;
  if (!add(waiting)) return;
  advance_background_until([&] { return waiting.is_over(); });
  waiting.sleep();
}

}  // namespace trimtab::tasks
