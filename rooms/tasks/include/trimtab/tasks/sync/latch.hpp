// A latch as of the standard library: opens once, when it has been counted down.
#pragma once

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <utility>

#include "trimtab/tasks/core/misuse.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/early_end.hpp"

namespace trimtab::tasks {

class latch {
 public:
  explicit latch(std::ptrdiff_t expected) noexcept : m_left(expected) {
    if (expected == 0) m_open.complete();
  }

  void count_down(std::ptrdiff_t count = 1) noexcept {
    const std::ptrdiff_t previous = m_left.fetch_sub(count, std::memory_order_acq_rel);
    if (previous < count || count < 0) [[unlikely]]
      detail::misused("count_down of a latch below zero", this);
    if (previous == count && count != 0) m_open.complete();
  }
  bool try_wait() const noexcept { return m_open.is_ready(); }
  void wait() { m_open.wait(wait_reason::latch, this); }
  // False: stop was requested before it opened.
  bool wait(const std::stop_token& stop) { return detail::wait_unless(stop, m_open, wait_reason::latch, this); }
  void arrive_and_wait(std::ptrdiff_t count = 1) {
    count_down(count);
    wait();
  }

  // For coroutines: co_await l.wait_async(), and with a stop token what wait(stop) gives.
  detail::completion_awaiter wait_async() noexcept { return {m_open, recording::cause::latch}; }
  detail::stoppable_completion_awaiter wait_async(std::stop_token stop) noexcept {
    return {recording::cause::latch, std::move(stop), m_open};
  }

 private:
  std::atomic<std::ptrdiff_t> m_left;
  completion m_open;
};

}  // namespace trimtab::tasks
