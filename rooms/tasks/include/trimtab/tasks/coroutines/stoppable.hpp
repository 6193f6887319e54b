// Coroutines' waits that a stop token ends.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include "trimtab/tasks/coroutines/resumer.hpp"

namespace trimtab::tasks::detail {

// Three take part, maybe at three threads: who tells, who stops, and who sets the coroutine aside, which may not be through
// when one of the others comes. It goes on when it has been set aside, and told by one of the two (the one that takes it out
// of where it waits); the second of these events resumes it, and after the first nobody touches this for its sake.
//
// What it waits for is a `source`, which has
//   bool is_had()              it is there, and nobody has to wait
//   bool enlist(node& who)     false: it is there meanwhile, and `who` will not be told
//   bool remove(node& who)     true, for one caller only: `who` will not be told
template <class source, class node = waiter>
class stoppable_resumer : public resumer<node> {
 public:
  template <class... arguments>
  stoppable_resumer(recording::cause why, std::stop_token stop, arguments&&... of)
      : resumer<node>(why), m_of{std::forward<arguments>(of)...}, m_stop(std::move(stop)) {}

  bool await_ready() noexcept { return m_of.is_had(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> who) {
    this->about_to_wait(who);
    if (is_set_aside()) return true;
    this->need_not_wait();
    return false;
  }
  // False: stop was requested before.
  bool await_resume() noexcept { return was_told(); }

 protected:
  // When it returns, no stop comes any more. These two are not inline: it may be another thread by now, which the end of a
  // stop_callback asks for, and a compiler may keep what was known of the thread before.
  [[gnu::noinline]] bool was_told() noexcept {
    m_at_stop.reset();
    return !m_is_stopped;
  }

 private:
  struct stopping {
    stoppable_resumer* who;
    void operator()() const noexcept { who->stop(); }
  };

  [[gnu::noinline]] bool is_set_aside() {
    m_resume = this->notify;
    this->notify = [](waiter& self) noexcept {
      auto& own = static_cast<stoppable_resumer&>(self);
      if (own.is_second()) own.m_resume(own);
    };
    if (!m_of.enlist(*this)) return false;
    m_at_stop.emplace(m_stop, stopping{this});
    return !is_second();
  }
  void stop() noexcept {
    if (!m_of.remove(*this)) return;
    m_is_stopped = true;
    this->notify(*this);
  }
  bool is_second() noexcept { return m_has_first.exchange(true, std::memory_order_acq_rel); }

  source m_of;
  std::stop_token m_stop;
  std::optional<std::stop_callback<stopping>> m_at_stop;
  void (*m_resume)(waiter& self) noexcept = nullptr;
  std::atomic<bool> m_has_first{false};
  bool m_is_stopped = false;
};

struct completion_source {
  completion& of;
  bool is_had() const noexcept { return of.is_ready(); }
  bool enlist(waiter& who) noexcept { return of.add(who); }
  bool remove(waiter& who) noexcept { return of.remove(who); }
};
using stoppable_completion_awaiter = stoppable_resumer<completion_source>;

}  // namespace trimtab::tasks::detail
