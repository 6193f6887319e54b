// Structured fork-join, the fastest way to run things at the same time.
#pragma once

#include <exception>
#include <type_traits>

#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

namespace detail {

// A task that its forker waits for, on the forker's stack.
template <class function>
struct forked final : task {
  explicit forked(function& called) noexcept : call(called) {
    run = [](task& self, place) noexcept {
      auto& own = static_cast<forked&>(self);
      try {
        own.call();
      } catch (...) {
        own.error = std::current_exception();
      }
      own.done.complete();
    };
    what = kind::fork;
  }
  function& call;
  completion done;
  std::exception_ptr error;
};

template <class function>
void describe_fork(task& fork, const function& f, worker& here) noexcept {
  fork.kind_of_work = &kind_of<function>;
  fork.subject = recorded_subject(f);
  if (fork.subject != 0) here.record_made(fork);
}

// Calls f() on a stack of its own, with what it throws.
template <class function>
void call_on_new_stack(function&& f) {
  struct called {
    function& call;
    std::exception_ptr error;
  } here{f, nullptr};
  worker::run_on_new_stack(
      [](void* argument) noexcept {
        auto& own = *static_cast<called*>(argument);
        try {
          own.call();
        } catch (...) {
          own.error = std::current_exception();
        }
      },
      &here);
  if (here.error) std::rethrow_exception(here.error);
}

}  // namespace detail

// Calls all of them, at the same time where workers are idle, and returns when all are done. Called on no worker, one
// after the other in place.
// If some throw, the exception of the first in the order of the arguments leaves invoke, after all that had begun are
// done; those after it may not have been called.
template <class first, class second>
void invoke(first&& f, second&& g) {
  worker* here = worker::current();
  if (here == nullptr) [[unlikely]] {
    f();
    g();
    return;
  }
  if (here->is_stack_low()) [[unlikely]]
    return detail::call_on_new_stack([&] { invoke(f, g); });
  detail::forked<std::remove_reference_t<second>> other(g);
  if (recording::is_on()) [[unlikely]]
    detail::describe_fork(other, g, *here);
  here->fork(other);
  try {
    f();
  } catch (...) {
    if (!worker::current()->take(other)) other.done.wait(wait_reason::fork);
    throw;
  }
  // f may have waited, and gone on at another worker.
  here = worker::current();
  if (here->take(other)) [[likely]] {
    if (other.subject == 0 || here->counts_as_running(other)) [[likely]]
      return static_cast<void>(g());
    if (here->call_recorded(other, g)) return;
    here->run_fork_in_place(other);
  } else {
    other.done.wait(wait_reason::fork);
  }
  if (other.error) std::rethrow_exception(other.error);
}

template <class first, class second, class... more>
  requires(sizeof...(more) > 0)
void invoke(first&& f, second&& g, more&&... others) {
  invoke(f, [&] { invoke(g, others...); });
}

}  // namespace trimtab::tasks
