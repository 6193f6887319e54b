#include "trimtab/tasks/waiting.hpp"

#include "futex.hpp"
#include "stack.hpp"
#include "trimtab/tasks/worker.hpp"

namespace trimtab::tasks {

void completion::tell(waiter* newest) noexcept {
  waiter* oldest = nullptr;
  while (newest != nullptr) {
    waiter* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    waiter* const next = oldest->next;
    oldest->notify(*oldest);
    oldest = next;
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

void completion::wait_slow(const char* what) {
  if (worker::current() != nullptr) {
    waiting_stack here(*this);
    worker::suspend(
        what, this,
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
