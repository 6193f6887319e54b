// Structured fork-join, the fastest way to run things at the same time.
#pragma once

#include "trimtab/tasks/runtime.hpp"

namespace trimtab::tasks {

namespace detail {

template <class function>
struct forked {
  function& call;
  std::exception_ptr error;

  static void run(void* closure) noexcept {
    auto& self = *static_cast<forked*>(closure);
    try {
      self.call();
    } catch (...) {
      self.error = std::current_exception();
    }
  }
};

}  // namespace detail

// Calls all of them, at the same time where workers are idle, and returns when all are done. Called on no worker, or
// deeper than a worker has room for, one after the other in place.
// If some throw, the exception of the first in the order of the arguments leaves invoke, after all that had begun are
// done; those after it may not have been called.
template <class first, class second>
void invoke(first&& f, second&& g) {
  worker* const here = worker::current();
  detail::forked<std::remove_reference_t<second>> other{g, nullptr};
  fork_frame* const frame = here == nullptr ? nullptr : here->fork(other.run, &other);
  if (frame == nullptr) [[unlikely]] {
    f();
    g();
    return;
  }
  try {
    f();
  } catch (...) {
    here->join(*frame);
    throw;
  }
  if (here->join(*frame)) [[likely]] {
    g();
    return;
  }
  if (other.error) std::rethrow_exception(other.error);
}

template <class first, class second, class... more>
  requires(sizeof...(more) > 0)
void invoke(first&& f, second&& g, more&&... others) {
  invoke(f, [&] { invoke(g, others...); });
}

}  // namespace trimtab::tasks
