// Structured fork-join, the fastest way to run things at the same time.
#pragma once

#include <exception>
#include <type_traits>

#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

namespace detail {

// A task on the stack of the task that forks it and waits for it.
template <class function>
struct forked final : task {
  explicit forked(function& called) noexcept : call(called) {
    run = [](task& self, place) noexcept {
      auto& derived = static_cast<forked&>(self);
      try {
        derived.call();
      } catch (...) {
        derived.error = std::current_exception();
      }
      derived.ended.complete();
    };
    role = kind::fork;
  }
  function& call;
  completion ended;
  std::exception_ptr error;
};

template <class function>
void describe_fork(task& fork, const function& f, worker& this_worker) noexcept {
  fork.kind_of_work = &kind_of<function>;
  fork.subject = recorded_subject(f);
  if (fork.subject != 0) this_worker.record_made(fork);
}

// Calls f() on a stack of its own; throws what f throws.
template <class function>
void call_on_new_stack(function&& f) {
  struct called {
    function& call;
    std::exception_ptr error;
  } here{f, nullptr};
  worker::run_on_new_stack(
      [](void* argument) noexcept {
        auto& derived = *static_cast<called*>(argument);
        try {
          derived.call();
        } catch (...) {
          derived.error = std::current_exception();
        }
      },
      &here);
  if (here.error) std::rethrow_exception(here.error);
}

}  // namespace detail

// Calls all functions, at the same time if workers are idle, and returns when all have ended. On a thread that is not a
// worker they are called one after the other.
// If some throw, invoke throws the exception of the first of these in the order of the arguments, when all functions that
// began have ended. Later functions may not have been called.
template <class first, class second>
void invoke(first&& f, second&& g) {
  worker* this_worker = worker::current();
  if (this_worker == nullptr) [[unlikely]] {
    f();
    g();
    return;
  }
  if (this_worker->is_stack_low()) [[unlikely]]
    return detail::call_on_new_stack([&] { invoke(f, g); });
  detail::forked<std::remove_reference_t<second>> right_fork(g);
  if (recording::is_enabled()) [[unlikely]]
    detail::describe_fork(right_fork, g, *this_worker);
  this_worker->fork(right_fork);
  try {
    f();
  } catch (...) {
    if (!worker::current()->claim(right_fork)) right_fork.ended.wait(wait_reason::fork);
    throw;
  }
  // f may have waited, and continued on another worker.
  this_worker = worker::current();
  if (this_worker->claim(right_fork)) [[likely]] {
    if (right_fork.subject == 0 || this_worker->counts_as_running(right_fork)) [[likely]]
      return static_cast<void>(g());
    if (this_worker->call_recorded(right_fork, g)) return;
    this_worker->run_fork_in_place(right_fork);
  } else {
    right_fork.ended.wait(wait_reason::fork);
  }
  if (right_fork.error) std::rethrow_exception(right_fork.error);
}

template <class first, class second, class... more>
  requires(sizeof...(more) > 0)
void invoke(first&& f, second&& g, more&&... rest) {
  invoke(f, [&] { invoke(g, rest...); });
}

}  // namespace trimtab::tasks
