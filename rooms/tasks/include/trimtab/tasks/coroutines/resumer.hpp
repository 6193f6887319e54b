// A coroutine that waits: the waiter that makes it ready again. All awaiters derive from it.
#pragma once

#include <concepts>
#include <coroutine>

#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/task.hpp"
#include "trimtab/tasks/core/waiting.hpp"

namespace trimtab::tasks {

class runtime;

namespace detail {

// A task that resumes `coroutine`, in a block of its own: for coroutines whose promises are not tasks.
task& make_resumption(std::coroutine_handle<> coroutine);
void drop_resumption(task& resumption) noexcept;

// The coroutine that `resumption` resumes is about to be suspended. Returns the runtime on which it will continue.
runtime& begin_wait(task& resumption);
void undo_wait(task& resumption) noexcept;
void end_wait(task& resumption, runtime& home) noexcept;
// Called before these for promises of this library (coroutine_promise), for their tasks.
void coroutine_leaves(task& promise, recording::cause reason) noexcept;
void coroutine_stays(task& promise) noexcept;
void coroutine_is_told(const task& promise, recording::cause reason) noexcept;

// node: a waiter with the data that it carries.
template <class node = waiter>
class resumer : public node {
 protected:
  explicit resumer(recording::cause reason) noexcept : m_reason(reason) {}

  // To be called before anything can notify it.
  template <class promise>
  void about_to_wait(std::coroutine_handle<promise> coroutine) {
    m_owns_resumption = !std::derived_from<promise, task>;
    if constexpr (std::derived_from<promise, task>) {
      m_resumption = &coroutine.promise();
      coroutine_leaves(coroutine.promise(), m_reason);
    } else {
      m_resumption = &make_resumption(coroutine);
    }
    m_home = &begin_wait(*m_resumption);
    this->notify = [](waiter& self) noexcept {
      auto& derived = static_cast<resumer&>(self);
      if (!derived.m_owns_resumption) coroutine_is_told(*derived.m_resumption, derived.m_reason);
      end_wait(*derived.m_resumption, *derived.m_home);
    };
  }
  // Undoes about_to_wait: nothing will notify it.
  void need_not_wait() noexcept {
    undo_wait(*m_resumption);
    m_owns_resumption ? drop_resumption(*m_resumption) : coroutine_stays(*m_resumption);
  }
  // enlist(*this): false if nothing will notify it. If it returns true, this object may be gone.
  template <class promise, class function>
  bool wait_if(std::coroutine_handle<promise> coroutine, function&& enlist) {
    about_to_wait(coroutine);
    if (enlist(*this)) return true;
    need_not_wait();
    return false;
  }

 private:
  task* m_resumption = nullptr;
  runtime* m_home = nullptr;
  recording::cause m_reason;
  bool m_owns_resumption = false;
};

class completion_awaiter : public resumer<> {
 public:
  completion_awaiter(completion& event, recording::cause reason) noexcept : resumer<>(reason), m_event(event) {}
  bool await_ready() const noexcept { return m_event.is_ready(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> coroutine) {
    return this->wait_if(coroutine, [&](waiter& self) { return m_event.add(self); });
  }
  void await_resume() const noexcept {}

 private:
  completion& m_event;
};

}  // namespace detail
}  // namespace trimtab::tasks
