// A mutex as of the standard library. A task that waits for it lets its worker run something else. It may be unlocked by
// another worker than the one that locked it, since tasks move. Who waits gets it in turn.
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include "trimtab/tasks/core/misuse.hpp"
#include "trimtab/tasks/sync/permits.hpp"

namespace trimtab::tasks {

class mutex {
 public:
  mutex() = default;

  void lock() { m_free.acquire_one(wait_reason::mutex, this); }
  bool try_lock() noexcept { return m_free.try_acquire_one(); }
  void unlock() noexcept {
    if (m_free.release() > 0) [[unlikely]]
      detail::misused("unlock of a mutex that is not locked", this);
  }

  template <class rep, class period>
  bool try_lock_for(const std::chrono::duration<rep, period>& time) {
    return m_free.try_acquire_one() || m_free.acquire_until(detail::deadline_after(time), wait_reason::mutex, this);
  }
  template <class clock, class duration>
  bool try_lock_until(const std::chrono::time_point<clock, duration>& deadline) {
    return m_free.try_acquire_one() || m_free.acquire_until(detail::deadline_at(deadline), wait_reason::mutex, this);
  }

  // False: stop was requested, and it was not to be had before.
  bool try_lock(const std::stop_token& stop) {
    return m_free.try_acquire_one() || m_free.acquire_unless(stop, wait_reason::mutex, this);
  }

  // For coroutines: co_await m.lock_async(), and with a stop token what try_lock(stop) gives.
  detail::permit_awaiter lock_async() noexcept { return {m_free, recording::cause::mutex}; }
  detail::stoppable_permit_awaiter lock_async(std::stop_token stop) noexcept {
    return {recording::cause::mutex, std::move(stop), m_free};
  }

 private:
  detail::permits m_free{1};
};

}  // namespace trimtab::tasks
