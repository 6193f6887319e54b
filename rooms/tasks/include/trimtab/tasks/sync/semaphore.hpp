// A semaphore as of the standard library, which sets tasks aside and blocks no worker. Who waits is served in turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>
#include <utility>

#include "trimtab/tasks/core/misuse.hpp"
#include "trimtab/tasks/sync/permits.hpp"

namespace trimtab::tasks {

template <std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max()>
class counting_semaphore {
 public:
  explicit counting_semaphore(std::ptrdiff_t count) noexcept : m_left(count) {}
  static constexpr std::ptrdiff_t max() noexcept { return largest; }

  void acquire() { m_left.acquire_one(wait_reason::semaphore, this); }
  bool try_acquire() noexcept { return m_left.try_acquire_one(); }
  void release(std::ptrdiff_t count = 1) noexcept {
    if (const std::int64_t previous = m_left.release(count); previous > largest - count) [[unlikely]]
      detail::misused("release of a semaphore beyond its maximum", this);
  }

  template <class rep, class period>
  bool try_acquire_for(const std::chrono::duration<rep, period>& time) {
    return m_left.try_acquire_one() || m_left.acquire_until(detail::deadline_after(time), wait_reason::semaphore, this);
  }
  template <class clock, class duration>
  bool try_acquire_until(const std::chrono::time_point<clock, duration>& deadline) {
    return m_left.try_acquire_one() || m_left.acquire_until(detail::deadline_at(deadline), wait_reason::semaphore, this);
  }

  // False: stop was requested, and there was none before.
  bool try_acquire(const std::stop_token& stop) {
    return m_left.try_acquire_one() || m_left.acquire_unless(stop, wait_reason::semaphore, this);
  }

  // For coroutines: co_await s.acquire_async(), and with a stop token what try_acquire(stop) gives.
  detail::permit_awaiter acquire_async() noexcept { return {m_left, recording::cause::semaphore}; }
  detail::stoppable_permit_awaiter acquire_async(std::stop_token stop) noexcept {
    return {recording::cause::semaphore, std::move(stop), m_left};
  }

 private:
  detail::permits m_left;
};

using binary_semaphore = counting_semaphore<1>;

}  // namespace trimtab::tasks
