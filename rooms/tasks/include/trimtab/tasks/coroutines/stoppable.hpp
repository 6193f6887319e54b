// Waits of coroutines that a stop token ends.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include "trimtab/tasks/coroutines/resumer.hpp"

namespace trimtab::tasks::detail {

// Three parties take part, maybe on three threads: one notifies, one requests stop, and one suspends the coroutine, which
// may not be finished when one of the others comes. The coroutine continues when it is suspended and one of the other two
// has notified it (the one that removed it from its queue). The second of these two events resumes it; the party of the
// first does not touch this object afterwards.
//
// It waits for a `source`, which has
//   bool is_available()              it is there, and nobody has to wait
//   bool enlist(node&)         false: it has become available, and the node will not be notified
//   bool remove(node&)         true, for one caller only: the node will not be notified
template <class source, class node = waiter>
class stoppable_resumer : public resumer<node> {
 public:
  template <class... arguments>
  stoppable_resumer(recording::cause reason, std::stop_token stop, arguments&&... arguments_of_source)
      : resumer<node>(reason), m_source{std::forward<arguments>(arguments_of_source)...}, m_stop(std::move(stop)) {}

  bool await_ready() noexcept { return m_source.is_available(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> coroutine) {
    this->about_to_wait(coroutine);
    if (is_set_aside()) return true;
    this->need_not_wait();
    return false;
  }
  // False: stop was requested before.
  bool await_resume() noexcept { return was_notified(); }

 protected:
  // When it returns, no stop can come any more. These two are not inline: the thread may have changed, the destructor of
  // stop_callback asks for the thread, and a compiler could keep the old one.
  [[gnu::noinline]] bool was_notified() noexcept {
    m_at_stop.reset();
    return !m_is_stopped;
  }

 private:
  struct stopping {
    stoppable_resumer* resumer;
    void operator()() const noexcept { resumer->stop(); }
  };

  [[gnu::noinline]] bool is_set_aside() {
    m_resume = this->notify;
    this->notify = [](waiter& self) noexcept {
      auto& derived = static_cast<stoppable_resumer&>(self);
      if (derived.is_second()) derived.m_resume(derived);
    };
    if (!m_source.enlist(*this)) return false;
    m_at_stop.emplace(m_stop, stopping{this});
    return !is_second();
  }
  void stop() noexcept {
    if (!m_source.remove(*this)) return;
    m_is_stopped = true;
    this->notify(*this);
  }
  bool is_second() noexcept { return m_has_first.exchange(true, std::memory_order_acq_rel); }

  source m_source;
  std::stop_token m_stop;
  std::optional<std::stop_callback<stopping>> m_at_stop;
  void (*m_resume)(waiter& self) noexcept = nullptr;
  std::atomic<bool> m_has_first{false};
  bool m_is_stopped = false;
};

struct completion_source {
  completion& event;
  bool is_available() const noexcept { return event.is_ready(); }
  bool enlist(waiter& waiting) noexcept { return event.add(waiting); }
  bool remove(waiter& waiting) noexcept { return event.remove(waiting); }
};
using stoppable_completion_awaiter = stoppable_resumer<completion_source>;

}  // namespace trimtab::tasks::detail
