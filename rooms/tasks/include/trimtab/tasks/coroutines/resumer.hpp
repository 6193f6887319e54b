// A coroutine that waits: the waiter that makes it ready again. What is awaited has an awaiter that derives from this one.
#pragma once

#include <concepts>
#include <coroutine>

#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/task.hpp"
#include "trimtab/tasks/core/waiting.hpp"

namespace trimtab::tasks {

class runtime;

namespace detail {

// A task that resumes `who`, in a block of its own: for coroutines whose promises are no tasks.
task& make_resumption(std::coroutine_handle<> who);
void drop_resumption(task& made) noexcept;

// The coroutine that `by` resumes is about to be set aside; where it will go on.
runtime& begin_wait(task& by);
void undo_wait(task& by) noexcept;
void end_wait(task& by, runtime& home) noexcept;
// Before these, for promises of ours (coroutine_promise): what belongs to their task.
void coroutine_leaves(task& promise, recording::cause why) noexcept;
void coroutine_stays(task& promise) noexcept;
void coroutine_is_told(const task& promise, recording::cause why) noexcept;

// node: a waiter with what else it is to carry.
template <class node = waiter>
class resumer : public node {
 protected:
  explicit resumer(recording::cause why) noexcept : m_why(why) {}

  // Before anyone can tell.
  template <class promise>
  void about_to_wait(std::coroutine_handle<promise> who) {
    m_is_own = !std::derived_from<promise, task>;
    if constexpr (std::derived_from<promise, task>) {
      m_resumption = &who.promise();
      coroutine_leaves(who.promise(), m_why);
    } else {
      m_resumption = &make_resumption(who);
    }
    m_home = &begin_wait(*m_resumption);
    this->notify = [](waiter& self) noexcept {
      auto& own = static_cast<resumer&>(self);
      if (!own.m_is_own) coroutine_is_told(*own.m_resumption, own.m_why);
      end_wait(*own.m_resumption, *own.m_home);
    };
  }
  // Instead: nobody will tell.
  void need_not_wait() noexcept {
    undo_wait(*m_resumption);
    m_is_own ? drop_resumption(*m_resumption) : coroutine_stays(*m_resumption);
  }
  // enlist(*this): false if nobody will tell. Afterwards, if true, this may be gone.
  template <class promise, class function>
  bool wait_if(std::coroutine_handle<promise> who, function&& enlist) {
    about_to_wait(who);
    if (enlist(*this)) return true;
    need_not_wait();
    return false;
  }

 private:
  task* m_resumption = nullptr;
  runtime* m_home = nullptr;
  recording::cause m_why;
  bool m_is_own = false;
};

class completion_awaiter : public resumer<> {
 public:
  completion_awaiter(completion& of, recording::cause why) noexcept : resumer<>(why), m_of(of) {}
  bool await_ready() const noexcept { return m_of.is_ready(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> who) {
    return this->wait_if(who, [&](waiter& self) { return m_of.add(self); });
  }
  void await_resume() const noexcept {}

 private:
  completion& m_of;
};

}  // namespace detail
}  // namespace trimtab::tasks
