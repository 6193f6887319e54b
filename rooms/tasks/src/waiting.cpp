#include "trimtab/tasks/core/waiting.hpp"

#include <sched.h>

#include "futex.hpp"
#include "stack.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

void completion::tell(waiter* newest) noexcept {
  waiter* oldest = nullptr;
  while (newest != nullptr) {
    waiter* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  waiter::tell_all(oldest);
}

bool completion::remove(waiter& who) noexcept {
  for (;;) {
    std::uintptr_t known = m_waiters.load(std::memory_order_acquire);
    do {
      if (known == ready) return false;
    } while (!m_waiters.compare_exchange_weak(known, 0, std::memory_order_acq_rel, std::memory_order_acquire));
    // All are ours for a moment. Those that can no longer be put back are told.
    waiter* oldest = nullptr;
    bool is_found = false;
    for (auto* each = reinterpret_cast<waiter*>(known); each != nullptr;) {
      waiter* const next = each->next;
      if (each == &who) {
        is_found = true;
      } else {
        each->next = oldest;
        oldest = each;
      }
      each = next;
    }
    while (oldest != nullptr) {
      waiter* const next = oldest->next;
      if (!add(*oldest)) oldest->notify(*oldest);
      oldest = next;
    }
    if (is_found) return true;
    // Another who removes holds it.
    sched_yield();
  }
}

namespace {

struct waiting_stack : waiter {
  explicit waiting_stack(completion& awaited) : of(&awaited) {
    notify = [](waiter& self) noexcept { worker::ready(*static_cast<waiting_stack&>(self).which); };
  }
  completion* of;
  stack* which = nullptr;
};

struct waiting_thread : waiter {
  waiting_thread() {
    notify = [](waiter& self) noexcept {
      futex_word* const word = &static_cast<waiting_thread&>(self).is_done;
      word->store(1, std::memory_order_release);
      futex_wake(word, 1);
    };
  }
  void sleep() noexcept {
    while (is_done.load(std::memory_order_acquire) == 0) futex_wait(is_done, 0);
  }
  futex_word is_done{0};
};

}  // namespace

void completion::wait_slow(wait_reason reason, const void* object) {
  if (worker::current() != nullptr) {
    waiting_stack here(*this);
    worker::suspend(
        reason, object,
        [](void* argument, stack& left) noexcept {
          auto& self = *static_cast<waiting_stack*>(argument);
          self.which = &left;
          if (!self.of->add(self)) worker::ready(left);
        },
        &here);
    return;
  }
  waiting_thread here;
  if (add(here)) here.sleep();
}

}  // namespace trimtab::tasks
